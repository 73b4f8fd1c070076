/* n rounds of two phases: 20,000 times the shortest loop, then 40 times getpid. What the user level does and what
 * the kernel does take turns, so a rate measured in one phase is wrong for the other. */
#include "start.h"

	start
#if defined(__x86_64__)
round:	mov	$20000, %ebp
1:	dec	%rbp
	jnz	1b
	mov	$40, %ebp
2:	mov	$39, %eax
	syscall
	dec	%rbp
	jnz	2b
	dec	N
	jnz	round
#else
round:	mov	x20, #20000
1:	subs	x20, x20, #1
	b.ne	1b
	mov	x20, #40
2:	mov	x8, #172
	svc	#0
	subs	x20, x20, #1
	b.ne	2b
	subs	N, N, #1
	b.ne	round
#endif
	finish

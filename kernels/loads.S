/* n times: eight loads of the same line. */
#include "start.h"

	start
#if defined(__x86_64__)
	lea	line(%rip), %rdi
1:	.rept	8
	mov	(%rdi), %rax
	.endr
	dec	N
	jnz	1b
#else
	adr	x1, line
1:	.rept	8
	ldr	x0, [x1]
	.endr
	subs	N, N, #1
	b.ne	1b
#endif
	finish

	.balign	64
line:	.fill	8, 8, 0

/* n times: ten additions, each waiting for the one before it. */
#include "start.h"

	start
#if defined(__x86_64__)
	mov	$1, %eax
1:	.rept	10
	add	%rax, %rax
	.endr
	dec	N
	jnz	1b
#else
	mov	x0, #1
1:	.rept	10
	add	x0, x0, x0
	.endr
	subs	N, N, #1
	b.ne	1b
#endif
	finish

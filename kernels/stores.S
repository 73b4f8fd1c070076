/* n times: eight stores to the same line. */
#include "start.h"

	start
#if defined(__x86_64__)
	lea	-64(%rsp), %rdi
1:	.rept	8
	mov	%rbx, (%rdi)
	.endr
	dec	N
	jnz	1b
#else
	sub	x1, sp, #64
1:	.rept	8
	str	N, [x1]
	.endr
	subs	N, N, #1
	b.ne	1b
#endif
	finish

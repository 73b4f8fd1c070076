/* n times: fifty additions in double precision, each waiting for the one before it. */
#include "start.h"

	start
#if defined(__x86_64__)
	pxor	%xmm0, %xmm0
	pxor	%xmm1, %xmm1
1:	.rept	50
	addsd	%xmm0, %xmm1
	.endr
	dec	N
	jnz	1b
#else
	movi	d0, #0
	movi	d1, #0
1:	.rept	50
	fadd	d1, d1, d0
	.endr
	subs	N, N, #1
	b.ne	1b
#endif
	finish

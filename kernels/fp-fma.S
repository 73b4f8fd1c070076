/* n times: fifty fused multiply-adds in double precision, each waiting for the one before it. */
#include "start.h"

	start
#if defined(__x86_64__)
	pxor	%xmm0, %xmm0
	pxor	%xmm1, %xmm1
1:	.rept	50
	vfmadd231sd %xmm0, %xmm0, %xmm1
	.endr
	dec	N
	jnz	1b
#else
	movi	d0, #0
	movi	d1, #0
1:	.rept	50
	fmadd	d1, d0, d0, d1
	.endr
	subs	N, N, #1
	b.ne	1b
#endif
	finish

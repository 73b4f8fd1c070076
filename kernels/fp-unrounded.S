/* n times: ten times a = a + b * 1.5 of floats, written 1.5f: nothing is rounded (Nieto, 4.4). */
#include "start.h"

	start
	xorps	%xmm0, %xmm0
	xorps	%xmm1, %xmm1
	movss	factor(%rip), %xmm4
1:	.rept	10
	movaps	%xmm1, %xmm2
	mulss	%xmm4, %xmm2
	addss	%xmm2, %xmm0
	.endr
	dec	N
	jnz	1b
	finish

	.section .rodata
	.balign	4
factor:	.float	1.5

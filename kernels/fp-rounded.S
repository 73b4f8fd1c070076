/* n times: ten times a = a + b * 1.5 of floats, which C computes in double precision and rounds (Nieto, 4.4). */
#include "start.h"

	start
	xorps	%xmm0, %xmm0
	xorps	%xmm1, %xmm1
	movsd	factor(%rip), %xmm4
1:	.rept	10
	cvtss2sd %xmm1, %xmm2
	mulsd	%xmm4, %xmm2
	cvtss2sd %xmm0, %xmm3
	addsd	%xmm3, %xmm2
	cvtsd2ss %xmm2, %xmm0
	.endr
	dec	N
	jnz	1b
	finish

	.section .rodata
	.balign	8
factor:	.double	1.5

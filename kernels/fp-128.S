/* n times: two additions and three multiplications of vectors of four floats, three additions and one multiplication of two doubles. */
#include "start.h"

	start
	pxor	%xmm0, %xmm0
1:	addps	%xmm0, %xmm1
	addps	%xmm0, %xmm1
	mulps	%xmm0, %xmm2
	mulps	%xmm0, %xmm2
	mulps	%xmm0, %xmm2
	addpd	%xmm0, %xmm3
	addpd	%xmm0, %xmm3
	addpd	%xmm0, %xmm3
	mulpd	%xmm0, %xmm4
	dec	N
	jnz	1b
	finish

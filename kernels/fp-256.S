/* n times: two additions and three multiplications of vectors of eight floats, three additions and one multiplication of four doubles. */
#include "start.h"

	start
	vpxor	%xmm0, %xmm0, %xmm0
1:	vaddps	%ymm0, %ymm1, %ymm1
	vaddps	%ymm0, %ymm1, %ymm1
	vmulps	%ymm0, %ymm2, %ymm2
	vmulps	%ymm0, %ymm2, %ymm2
	vmulps	%ymm0, %ymm2, %ymm2
	vaddpd	%ymm0, %ymm3, %ymm3
	vaddpd	%ymm0, %ymm3, %ymm3
	vaddpd	%ymm0, %ymm3, %ymm3
	vmulpd	%ymm0, %ymm4, %ymm4
	dec	N
	jnz	1b
	finish

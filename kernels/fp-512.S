/* n times: two additions, three multiplications and one fused multiply-add of sixteen floats, three additions, one multiplication and two fused multiply-adds of eight doubles. */
#include "start.h"

	start
	vpxor	%xmm0, %xmm0, %xmm0
1:	vaddps	%zmm0, %zmm1, %zmm1
	vaddps	%zmm0, %zmm1, %zmm1
	vmulps	%zmm0, %zmm2, %zmm2
	vmulps	%zmm0, %zmm2, %zmm2
	vmulps	%zmm0, %zmm2, %zmm2
	vfmadd231ps	%zmm0, %zmm0, %zmm5
	vaddpd	%zmm0, %zmm3, %zmm3
	vaddpd	%zmm0, %zmm3, %zmm3
	vaddpd	%zmm0, %zmm3, %zmm3
	vmulpd	%zmm0, %zmm4, %zmm4
	vfmadd231pd	%zmm0, %zmm0, %zmm6
	vfmadd231pd	%zmm0, %zmm0, %zmm6
	dec	N
	jnz	1b
	finish

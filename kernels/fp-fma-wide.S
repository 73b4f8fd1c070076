/* n times: one fused multiply-add of a float, two of four floats, three of two doubles, four of eight floats and five of four doubles. */
#include "start.h"

	start
	vpxor	%xmm0, %xmm0, %xmm0
1:	vfmadd231ss	%xmm0, %xmm0, %xmm1
	vfmadd231ps	%xmm0, %xmm0, %xmm2
	vfmadd231ps	%xmm0, %xmm0, %xmm2
	vfmadd231pd	%xmm0, %xmm0, %xmm3
	vfmadd231pd	%xmm0, %xmm0, %xmm3
	vfmadd231pd	%xmm0, %xmm0, %xmm3
	vfmadd231ps	%ymm0, %ymm0, %ymm4
	vfmadd231ps	%ymm0, %ymm0, %ymm4
	vfmadd231ps	%ymm0, %ymm0, %ymm4
	vfmadd231ps	%ymm0, %ymm0, %ymm4
	vfmadd231pd	%ymm0, %ymm0, %ymm5
	vfmadd231pd	%ymm0, %ymm0, %ymm5
	vfmadd231pd	%ymm0, %ymm0, %ymm5
	vfmadd231pd	%ymm0, %ymm0, %ymm5
	vfmadd231pd	%ymm0, %ymm0, %ymm5
	dec	N
	jnz	1b
	finish

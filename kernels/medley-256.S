/* n times: arithmetic of vectors of 32 bytes, fused multiply-adds, ciphers and a gather: of each kind of instruction that came with AVX2
 * the number that fp-256.S and fp-fma-wide.S have, packed integers as in vectors.S, and fused multiply-adds of a double. */
#include "start.h"

	start
	lea	words(%rip), %r8
	vpxor	%xmm0, %xmm0, %xmm0
1:
	vaddps	%ymm0, %ymm1, %ymm1	/* fp-256.S */
	vaddps	%ymm0, %ymm1, %ymm1
	vmulps	%ymm0, %ymm2, %ymm2
	vmulps	%ymm0, %ymm2, %ymm2
	vmulps	%ymm0, %ymm2, %ymm2
	vaddpd	%ymm0, %ymm3, %ymm3
	vaddpd	%ymm0, %ymm3, %ymm3
	vaddpd	%ymm0, %ymm3, %ymm3
	vmulpd	%ymm0, %ymm4, %ymm4

	vfmadd231ss	%xmm0, %xmm0, %xmm5	/* fp-fma-wide.S */
	vfmadd231ps	%xmm0, %xmm0, %xmm6
	vfmadd231ps	%xmm0, %xmm0, %xmm6
	vfmadd231pd	%xmm0, %xmm0, %xmm7
	vfmadd231pd	%xmm0, %xmm0, %xmm7
	vfmadd231pd	%xmm0, %xmm0, %xmm7
	vfmadd231ps	%ymm0, %ymm0, %ymm8
	vfmadd231ps	%ymm0, %ymm0, %ymm8
	vfmadd231ps	%ymm0, %ymm0, %ymm8
	vfmadd231ps	%ymm0, %ymm0, %ymm8
	vfmadd231pd	%ymm0, %ymm0, %ymm9
	vfmadd231pd	%ymm0, %ymm0, %ymm9
	vfmadd231pd	%ymm0, %ymm0, %ymm9
	vfmadd231pd	%ymm0, %ymm0, %ymm9
	vfmadd231pd	%ymm0, %ymm0, %ymm9

	.rept	6			/* as fp-fma.S */
	vfmadd231sd	%xmm0, %xmm0, %xmm10
	.endr

	vpaddd	%xmm0, %xmm11, %xmm11	/* vectors.S */
	vpaddd	%xmm0, %xmm11, %xmm11
	vpaddd	%xmm0, %xmm11, %xmm11
	vpxor	%xmm0, %xmm12, %xmm12
	vaesenc	%xmm0, %xmm13, %xmm13
	vaesenc	%xmm0, %xmm13, %xmm13
	vpclmulqdq	$0, %xmm0, %xmm14, %xmm14

	vpcmpeqd	%ymm15, %ymm15, %ymm15	/* all four doubles are gathered */
	vgatherqpd	%ymm15, (%r8,%ymm0,8), %ymm14

	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
words:	.skip	4096

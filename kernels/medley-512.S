/* n times: arithmetic of vectors of 64 bytes, two gathers and a scatter: of each kind of instruction that came with AVX-512 the number that
 * fp-512.S and gathers.S have. */
#include "start.h"

	start
	mov	$-1, %eax
	lea	words(%rip), %rdi
	vpxor	%xmm0, %xmm0, %xmm0
1:
	vaddps	%zmm0, %zmm1, %zmm1	/* fp-512.S */
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

	kmovw	%eax, %k1		/* gathers.S */
	vgatherqpd	(%rdi,%zmm0,8), %zmm7{%k1}
	kmovw	%eax, %k1
	vgatherqpd	(%rdi,%zmm0,8), %zmm7{%k1}
	kmovw	%eax, %k1
	vscatterqpd	%zmm7, (%rdi,%zmm0,8){%k1}

	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
words:	.skip	4096

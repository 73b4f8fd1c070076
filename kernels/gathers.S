/* n times: two gathers of eight doubles and a scatter of them. */
#include "start.h"

	start
	mov	$-1, %eax
	lea	words(%rip), %rdi
	vpxorq	%zmm1, %zmm1, %zmm1
1:	kmovw	%eax, %k1
	vgatherqpd	(%rdi,%zmm1,8), %zmm2{%k1}
	kmovw	%eax, %k1
	vgatherqpd	(%rdi,%zmm1,8), %zmm2{%k1}
	kmovw	%eax, %k1
	vscatterqpd	%zmm2, (%rdi,%zmm1,8){%k1}
	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
words:	.skip	4096

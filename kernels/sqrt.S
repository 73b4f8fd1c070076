/* z[i] = 1.1 · sqrt(z[i]) over n doubles, n up to 1,000,000, by the instruction for square roots (Nieto, 4.3). */
#include "start.h"

	start
	cmp	$1000000, N
	ja	start_usage
	lea	z(%rip), %rdi
	movsd	factor(%rip), %xmm1
1:	sqrtsd	(%rdi), %xmm0
	mulsd	%xmm1, %xmm0
	movsd	%xmm0, (%rdi)
	add	$8, %rdi
	dec	N
	jnz	1b
	finish

	.section .rodata
	.balign	8
factor:	.double	1.1

	.bss
	.balign	4096
z:	.skip	8000000

/* z[i] = 1.1 · sqrt(z[i]) over n floats, n up to 1,000,000, by an estimate and one step of Newton's, as gcc -O2 -ffast-math -mrecip
 * compiles it (Nieto, 4.3): sqrt(x) = x · r, r = 0.5 · e · (3 - x · e · e). */
#include "start.h"

	start
	cmp	$1000000, N
	ja	start_usage
	lea	z(%rip), %rdi
	movss	three(%rip), %xmm3
	movss	half(%rip), %xmm4
	movss	factor(%rip), %xmm5
1:	movss	(%rdi), %xmm0
	rsqrtss	%xmm0, %xmm1
	mulss	%xmm1, %xmm0
	mulss	%xmm0, %xmm1
	mulss	%xmm4, %xmm0
	addss	%xmm3, %xmm1
	mulss	%xmm1, %xmm0
	mulss	%xmm5, %xmm0
	movss	%xmm0, (%rdi)
	add	$4, %rdi
	dec	N
	jnz	1b
	finish

	.section .rodata
	.balign	4
three:	.float	-3.0
half:	.float	-0.5
factor:	.float	1.1

	.bss
	.balign	4096
z:	.skip	4000000

/* The loop DO 100 of swim over n points of a row, in scalar double precision, each value loaded once (Nieto et al., 4.1; what compilers make of
 * it: swim.f90). p00 is p(i,j), p10 p(i+1,j), p01 p(i,j+1). */
#include "start.h"

#define ROW 4104		/* bytes: 513 points */

	start
	cmp	$512, N
	ja	start_usage
	movsd	half(%rip), %xmm15
	movsd	quarter(%rip), %xmm14
	movsd	four(%rip), %xmm13
	lea	p(%rip), %rsi
	lea	u(%rip), %rdi
	lea	v(%rip), %rdx
	lea	out(%rip), %rcx
1:	movsd	(%rsi), %xmm0		/* p00 */
	movsd	8(%rsi), %xmm1		/* p10 */
	movsd	ROW(%rsi), %xmm2	/* p01 */
	movsd	ROW+8(%rsi), %xmm3	/* p11 */
	movsd	8(%rdi), %xmm4		/* u10 */
	movsd	(%rdi), %xmm6		/* u00 */
	movsd	ROW+8(%rdi), %xmm8	/* u11 */
	movsd	ROW(%rdx), %xmm5	/* v01 */
	movsd	(%rdx), %xmm7		/* v00 */
	movsd	ROW+8(%rdx), %xmm9	/* v11 */
	movapd	%xmm0, %xmm10		/* cu(i+1,j) = .5 * (p10 + p00) * u10 */
	addsd	%xmm1, %xmm10
	movapd	%xmm10, %xmm11
	mulsd	%xmm15, %xmm11
	mulsd	%xmm4, %xmm11
	movsd	%xmm11, (%rcx)
	movapd	%xmm0, %xmm11		/* cv(i,j+1) = .5 * (p01 + p00) * v01 */
	addsd	%xmm2, %xmm11
	mulsd	%xmm15, %xmm11
	mulsd	%xmm5, %xmm11
	movsd	%xmm11, ROW(%rcx)
	subsd	%xmm5, %xmm9		/* z(i+1,j+1) = (4 * (v11 - v01) - 4 * (u11 - u10)) / (p00 + p10 + p11 + p01) */
	mulsd	%xmm13, %xmm9
	subsd	%xmm4, %xmm8
	mulsd	%xmm13, %xmm8
	subsd	%xmm8, %xmm9
	addsd	%xmm3, %xmm10
	addsd	%xmm2, %xmm10
	divsd	%xmm10, %xmm9
	movsd	%xmm9, 2*ROW(%rcx)
	mulsd	%xmm4, %xmm4		/* h(i,j) = p00 + .25 * (u10^2 + u00^2 + v01^2 + v00^2) */
	mulsd	%xmm6, %xmm6
	addsd	%xmm6, %xmm4
	mulsd	%xmm5, %xmm5
	mulsd	%xmm7, %xmm7
	addsd	%xmm5, %xmm4
	addsd	%xmm7, %xmm4
	mulsd	%xmm14, %xmm4
	addsd	%xmm0, %xmm4
	movsd	%xmm4, 3*ROW(%rcx)
	add	$8, %rsi
	add	$8, %rdi
	add	$8, %rdx
	add	$8, %rcx
	dec	N
	jnz	1b
	finish

	.data
	.balign	64
half:	.double	0.5
quarter: .double	0.25
four:	.double	4
	.balign	64
p:	.rept	2 * 513
	.double	1
	.endr
	.bss
	.balign	64
u:	.skip	2 * ROW
v:	.skip	2 * ROW
out:	.skip	4 * ROW

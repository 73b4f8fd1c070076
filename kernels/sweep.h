/* A sweep of an alternating direction implicit method over a grid of n x n x n doubles, n up to 100, that begins at a page (Zagha et al., 4.2): a[i]
 * = a[i] + f * a[i - 1] along one direction, n times for each of the n * n lines along it. a[i - 1] is in a register. ALONG_Y: the points of a
 * line are a row apart, lines side by side, plane after plane. ALONG_Z: the points of a line are a plane apart, and lines side by side; else the
 * points of a line are side by side, and lines follow each other. */
#include "start.h"

	start
	cmp	$100, N
	ja	start_usage
	lea	grid(%rip), %rsi
	mov	N, %r8
	imul	N, %r8			/* lines */
	pxor	%xmm1, %xmm1		/* f */
#if defined(ALONG_Z)
	lea	(,%r8,8), %r9		/* bytes of a plane */
#elif defined(ALONG_Y)
	lea	(,N,8), %r9		/* bytes of a row */
	mov	N, %r10			/* lines of the plane that are left */
#else
	mov	$8, %r9d
#endif
	mov	%rsi, %rdi
1:	movsd	(%rdi), %xmm0
	mov	N, %rcx
	dec	%rcx
	jz	3f
2:	add	%r9, %rdi
	mulsd	%xmm1, %xmm0
	addsd	(%rdi), %xmm0
	movsd	%xmm0, (%rdi)
	dec	%rcx
	jnz	2b
3:
#if defined(ALONG_Z)
	add	$8, %rsi
	mov	%rsi, %rdi
#elif defined(ALONG_Y)
	add	$8, %rsi
	dec	%r10
	jnz	4f
	mov	N, %r10
	lea	8(%rdi), %rsi		/* the plane's last point was the last one */
4:	mov	%rsi, %rdi
#else
	add	$8, %rdi
	nop				/* as many instructions either way */
#endif
	dec	%r8
	jnz	1b
	finish

	.bss
	.balign	65536			/* entries of a TLB can stand for several pages */
grid:	.skip	8 * 100 * 100 * 100

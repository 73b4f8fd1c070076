/* n times: a hundred times a load, an addition, a multiplication, a store and a branch; then one each of what is rare: a call and its return, a
 * locked addition, a fence, a read and a write across a line's end, a division, a root, a conversion. A counter that runs where it should not shows
 * a hundred times too many. */
#include "start.h"

	start
	lea	line(%rip), %rdi
	pxor	%xmm1, %xmm1
1:	mov	$100, %ecx
2:	mov	(%rdi), %eax
	add	$3, %eax
	imul	$5, %eax, %eax
	mov	%eax, (%rdi)
	dec	%ecx
	jnz	2b
	call	3f
	lock
	addl	$1, 8(%rdi)
	mfence
	add	62(%rdi), %edx
	mov	%edx, 126(%rdi)
	divsd	%xmm2, %xmm1
	sqrtsd	%xmm1, %xmm1
	cvtss2sd	%xmm3, %xmm4
	dec	N
	jnz	1b
	finish
3:	ret

	.bss
	.balign	64
line:	.skip	192

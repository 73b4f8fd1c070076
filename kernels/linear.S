/* Straight-line code of n blocks (Korn's first kernel, in assembly): each has three constant stores and six additions that
 * wait for one another. There are 10,000 blocks; the kernel jumps to where n are left. */
#include "start.h"

#define BLOCKS 10000

	start
#if defined(__x86_64__)
#define BLOCK_BYTES 39
	cmp	$BLOCKS, N
	ja	start_usage
	lea	-64(%rsp), %rdi
	imul	$BLOCK_BYTES, N, %rax
	lea	last(%rip), %rdx
	sub	%rax, %rdx
	jmp	*%rdx
first:	.rept	BLOCKS
	movl	$1, 8(%rdi)
	movl	$2, 16(%rdi)
	movl	$3, 24(%rdi)
	.rept	6
	add	$1, %eax
	.endr
	.endr
#else
#define BLOCK_BYTES 36
	mov	x0, #BLOCKS
	cmp	N, x0
	b.hi	start_usage
	sub	x1, sp, #64
	adr	x3, last
	mov	x4, #BLOCK_BYTES
	msub	x3, N, x4, x3
	br	x3
first:	.rept	BLOCKS
	str	w0, [x1, #8]
	str	w0, [x1, #16]
	str	w0, [x1, #24]
	.rept	6
	add	w0, w0, #1
	.endr
	.endr
#endif
last:
	.if	last - first - BLOCK_BYTES * BLOCKS
	.error	"a block has other than BLOCK_BYTES bytes"
	.endif
	finish

# Scalar FP arithmetic: only arithmetic counts as an operation; moves, compares and logic are named apart.
# truth: instructions 1704         # mov + 100 × 17 + exit 3
# truth: blocks 102
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: fp_scalar_single 500      # addss, mulss, subss, divss, sqrtss
# truth: fp_scalar_double 700      # addsd, mulsd (memory), subsd, divsd, sqrtsd, minsd, maxsd
# truth: fp_operations 1200        # one each
# truth: fp_divides 200
# truth: fp_square_roots 200
# truth: fp_compares 200           # ucomisd, comiss
# truth: loads 100                 # mulsd from memory
# truth: data_reads 100
# truth: bytes_read 800
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
1:	addss	%xmm1, %xmm0
	mulss	%xmm1, %xmm0
	subss	%xmm1, %xmm0
	divss	%xmm1, %xmm0
	sqrtss	%xmm1, %xmm2
	addsd	%xmm4, %xmm3
	mulsd	data(%rip), %xmm3
	subsd	%xmm4, %xmm3
	divsd	%xmm4, %xmm3
	sqrtsd	%xmm4, %xmm5
	minsd	%xmm4, %xmm3
	maxsd	%xmm4, %xmm3
	ucomisd	%xmm4, %xmm3
	comiss	%xmm1, %xmm0
	movaps	%xmm1, %xmm6			# a move
	dec	%ecx
	jnz	1b
	exit_0
	.data
data:	.double	1.5

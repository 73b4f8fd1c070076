# Saves and restores of processor state: the components that are asked for, and of these what is in use (engine/x86/xstate.h).
# needs: xsave xsaveopt xsavec avx
# truth: instructions 2407        # 4 + 100 × 24 + 3
# truth: blocks 102              # entry + 100 + end
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: loads 800                # xrstor × 3, fxrstor, xsave × 2, xsaveopt × 2
# truth: stores 800               # xsavec × 3, xsave × 2, xsaveopt × 2, fxsave
# truth: data_reads 800
# truth: data_writes 800
# truth: bytes_read 134000        # 100 × (28 + 324 + 8 + 8 + 8 + 416 + 8 + 540)
# truth: bytes_written 210400     # 100 × (16 + 280 + 272 + 680 + 160 + 272 + 416 + 8)
# truth: vector_integer 100
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	lea	area(%rip), %rbx		# 1
	lea	initial(%rip), %r12		# 1
	mov	$100, %ebp			# 1
	xor	%edx, %edx			# 1
1:	mov	$7, %eax			# 100: x87, SSE, AVX
	xrstor	(%r12)				# 100: 24 of the header, 4 of MXCSR: nothing is present
	xsavec	(%rbx)				# 100: 16 of the header: nothing is in use
	pcmpeqd	%xmm3, %xmm3			# 100
	xsavec	(%rbx)				# 100: 16, MXCSR 8, SSE 256
	xrstor	(%rbx)				# 100: a compacted header 64, MXCSR 4, SSE 256
	vinsertf128 $1, %xmm3, %ymm4, %ymm4	# 100
	mov	$4, %eax			# 100
	xsavec	(%rbx)				# 100: 16, AVX 256 and no MXCSR
	mov	$7, %eax			# 100
	xsave	large(%rip)			# 100: reads 8; 416, header 8, AVX 256: x87 too, which is not in use
	mov	$1, %eax			# 100
	xsave	(%rbx)				# 100: reads 8; x87 24 + 128, header 8
	mov	$3, %eax			# 100
	xsaveopt second(%rip)			# 100: reads 8; MXCSR 8, SSE 256, header 8
	fxsave	(%rbx)				# 100: 416 of 512
	fxrstor	(%rbx)				# 100: 416
	xor	%eax, %eax			# 100
	xsaveopt second(%rip)			# 100: reads 8; header 8
	vzeroupper				# 100
	mov	$7, %eax			# 100
	xrstor	large(%rip)			# 100: 24, MXCSR 4, SSE 256, AVX 256
	dec	%ebp				# 100
	jnz	1b				# 100
	exit_0
	.data
	.balign	64
initial: .fill	24, 1, 0
	.long	0x1f80, 0
	.fill	544, 1, 0
	.bss
	.balign	64
area:	.skip	4096
large:	.skip	4096
second:	.skip	4096

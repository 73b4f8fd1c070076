# Packed FP arithmetic of 128 and 256 bits, and FMA (an FMA is two operations a lane).
# needs: avx fma
# truth: instructions 1704         # mov + 100 × 17 + exit 3
# truth: blocks 102
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: fp_128_single 300         # addps, vmulps x, vfmadd x ps
# truth: fp_128_double 200         # mulpd, divpd
# truth: fp_256_single 300         # vaddps y, vsqrtps y, vfmsub y ps
# truth: fp_256_double 300         # vsubpd y, vdivpd y, vfmadd y pd
# truth: fp_scalar_single 100      # vfmadd ss
# truth: fp_scalar_double 200      # vaddsd, vfnmadd sd
# truth: fp_fma 500                # of the above
# truth: fp_operations 7300        # a round: 4 + 4 + 8, 2 + 2, 8 + 8 + 16, 4 + 4 + 8, 2, 1 + 2 = 73
# truth: fp_divides 200            # divpd, vdivpd
# truth: fp_square_roots 100
# truth: loads 100                 # vaddps y from memory
# truth: data_reads 100
# truth: bytes_read 3200
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
1:	addps	%xmm1, %xmm0			# 4
	vmulps	%xmm1, %xmm2, %xmm3		# 4
	vfmadd213ps %xmm1, %xmm2, %xmm3		# 8
	mulpd	%xmm5, %xmm4			# 2
	divpd	%xmm5, %xmm4			# 2
	vaddps	data(%rip), %ymm6, %ymm7	# 8
	vsqrtps	%ymm6, %ymm7			# 8
	vfmsub231ps %ymm6, %ymm7, %ymm8		# 16
	vsubpd	%ymm6, %ymm7, %ymm8		# 4
	vdivpd	%ymm6, %ymm7, %ymm8		# 4
	vfmadd132pd %ymm6, %ymm7, %ymm8		# 8
	vfmadd213ss %xmm6, %xmm7, %xmm8		# 2
	vaddsd	%xmm6, %xmm7, %xmm8		# 1
	vfnmadd213sd %xmm6, %xmm7, %xmm8	# 2
	vmovaps	%ymm6, %ymm9			# a move
	dec	%ecx
	jnz	1b
	exit_0
	.data
	.balign	32
data:	.space	32

# Packed FP arithmetic of 512 bits; masked lanes are counted apart (operations are those of the full width, by width).
# needs: avx512f
# truth: instructions 806          # 3 + 100 × 8 + exit 3
# truth: blocks 102
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: fp_512_single 200         # vaddps, vfmadd ps
# truth: fp_512_double 400         # vmulpd, vdivpd, vsqrtpd, vaddpd under a mask
# truth: fp_fma 100
# truth: fp_operations 8000        # a round: 16 + 32 + 8 + 8 + 8 + 8 = 80
# truth: fp_divides 100
# truth: fp_square_roots 100
# truth: fp_masked_lanes_off 500   # vaddpd under mask 0x07: five lanes of eight off
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$7, %eax
	kmovw	%eax, %k1
	mov	$100, %ecx
1:	vaddps	%zmm1, %zmm2, %zmm3
	vfmadd231ps %zmm1, %zmm2, %zmm3
	vmulpd	%zmm1, %zmm2, %zmm4
	vdivpd	%zmm1, %zmm2, %zmm4
	vsqrtpd	%zmm1, %zmm4
	vaddpd	%zmm1, %zmm2, %zmm4{%k1}
	dec	%ecx
	jnz	1b
	exit_0

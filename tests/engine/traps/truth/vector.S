# Vector integer instructions, conversions between precisions and between integers and FP, gathers.
# needs: avx2
# truth: instructions 1607           # 4 + 100 × 16 + exit 3
# truth: blocks 102
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: vector_integer 601          # vpxor once; paddd, vpaddq y, vpmulld y, pxor, vpsllq x, vpcmpeqd (the gather's mask)
# truth: conversions_precision 400   # cvtsd2ss, cvtss2sd, cvtpd2ps, vcvtps2pd y
# truth: conversions_integer 300     # cvtsi2sd, cvttsd2si, vcvtdq2ps y
# truth: gathers 100
# truth: gather_lanes 800
# truth: loads 100                   # the gather
# truth: data_reads 800              # eight lanes
# truth: bytes_read 3200
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
	lea	data(%rip), %rsi
	vpxor	%ymm15, %ymm15, %ymm15		# the gather's index
	nop
1:	paddd	%xmm1, %xmm0
	vpaddq	%ymm1, %ymm2, %ymm3
	vpmulld	%ymm1, %ymm2, %ymm3
	pxor	%xmm1, %xmm0
	vpsllq	$3, %xmm1, %xmm2
	cvtsd2ss %xmm4, %xmm5
	cvtss2sd %xmm4, %xmm5
	cvtpd2ps %xmm4, %xmm5
	vcvtps2pd %xmm4, %ymm5
	cvtsi2sd %ecx, %xmm4
	cvttsd2si %xmm4, %eax
	vcvtdq2ps %ymm4, %ymm5
	vpcmpeqd %ymm7, %ymm7, %ymm7
	vpgatherdd %ymm7, (%rsi,%ymm15,4), %ymm8
	dec	%ecx
	jnz	1b
	exit_0
	.data
data:	.space	64

# Integer multiplies and divides.
# truth: instructions 1606       # 3 + 100 × 16 + exit 3
# truth: blocks 102
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: integer_multiplies 600  # mul, imul of one, two and three operands, mulx, imul from memory
# truth: integer_divides 400     # div, idiv, div of bytes, div from memory
# truth: loads 200
# truth: data_reads 200
# truth: bytes_read 1200         # 8 + 4
# truth: syscalls 1
# needs: bmi2
	.include "truth.inc"
	.globl	_start
_start:	mov	$7, %ebx
	mov	$9, %esi
	mov	$100, %ecx
1:	mul	%rbx
	imul	%rbx
	imul	%rsi, %rdi
	imul	$5, %rsi, %rdi
	mulx	%rbx, %r8, %r9
	imul	seven(%rip), %rdi
	xor	%edx, %edx
	div	%rbx
	mov	$100, %eax
	cltd
	idiv	%ebx
	divb	%bl				# ax = 14
	xor	%edx, %edx
	divl	seven(%rip)
	dec	%ecx
	jnz	1b
	exit_0
	.data
seven:	.quad	7

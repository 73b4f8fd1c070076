# Instructions that read and write memory, whose flags a branch needs: each is executed once, wherever the counter of its block is. Blocks
# that an indirect jump leads to have counters of their own.
# truth: instructions 1598     # 3 + 100 × (14: three jumps with their lea, neg, js, mul, jo, sub, jz, dec, jnz) + 192 nops + exit 3
# truth: blocks 894            # entry, 100 × (1: to 7:), 192 nops, the exit
# truth: branches 700
# truth: conditional 400
# truth: taken 207             # 50 of js: the sign alternates; 57 of jo: 3^k mod 2^32, times 3, is 2^32 or more; 1 of jz; 99 of jnz
# truth: not_taken 193
# truth: jumps_indirect 300
# truth: loads 300
# truth: stores 200             # not mul
# truth: data_reads 300
# truth: data_writes 200
# truth: bytes_read 1600        # 100 × (8 + 4 + 4)
# truth: bytes_written 1200     # 100 × (8 + 4)
# truth: integer_multiplies 100
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
	mov	$1, %eax
	lea	data(%rip), %rsi
1:	lea	2f(%rip), %rdx
	jmp	*%rdx
2:	negq	(%rsi)				# 1, -1, 1, …
	js	3f
	nop
3:	lea	4f(%rip), %rdx
	jmp	*%rdx
4:	mull	8(%rsi)
	jo	5f
	nop
5:	lea	6f(%rip), %rdx
	jmp	*%rdx
6:	subl	$2, 12(%rsi)			# 198, 196, …, 0
	jz	7f
	nop
7:	dec	%ecx
	jnz	1b
	exit_0
	.data
data:	.quad	1
	.long	3
	.long	200

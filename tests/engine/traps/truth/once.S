# Instructions that read and write memory, whose flags a branch needs: each is executed once, wherever the counter of its block is.
# truth: instructions 997      # 2 + 100 × (neg, js, mul, jo, sub, jz, dec, jnz) + the 192 nops of branches that are not taken + exit 3
# truth: blocks 594            # entry, 100 × (1:, 2:, 3:, 4:), 192 nops, the exit
# truth: branches 400
# truth: conditional 400
# truth: taken 207             # 50 of js: the sign alternates; 57 of jo: 3^k mod 2^32, times 3, is 2^32 or more; 1 of jz; 99 of jnz
# truth: not_taken 193
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
1:	negq	data(%rip)			# 1, -1, 1, …
	js	2f
	nop
2:	mull	three(%rip)
	jo	3f
	nop
3:	subl	$2, many(%rip)			# 198, 196, …, 0
	jz	4f
	nop
4:	dec	%ecx
	jnz	1b
	exit_0
	.data
data:	.quad	1
three:	.long	3
many:	.long	200

# Loads, stores, read-modify-writes and the stack, 100 times.
# truth: instructions 1605      # mov + 100 × 16 + nop + exit: mov, xor, syscall
# truth: blocks 102             # entry, 100 × the loop, the exit
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: loads 800              # mov load, add load, add to memory, push of memory, pop, pop to memory, cmp, movups load
# truth: stores 800             # mov store, movb store, add to memory, push, push of memory, pop to memory, movups store, movl $imm store
# truth: data_reads 800         # one access each
# truth: data_writes 800
# truth: bytes_read 6800        # 8 + 4 + 8 + 8 + 8 + 8 + 8 + 16 = 68
# truth: bytes_written 6100     # 8 + 1 + 8 + 8 + 8 + 8 + 16 + 4 = 61
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
1:	mov	data(%rip), %rax		# load 8
	add	data(%rip), %ebx		# load 4
	mov	%rax, data+8(%rip)		# store 8
	movb	%al, data+16(%rip)		# store 1
	add	%rax, data+24(%rip)		# load 8, store 8
	push	%rax				# store 8
	push	data(%rip)			# load 8, store 8
	pop	%rdx				# load 8
	pop	data+32(%rip)			# load 8, store 8
	cmp	%rax, data(%rip)		# load 8
	movups	data(%rip), %xmm0		# load 16
	movups	%xmm0, data+48(%rip)		# store 16
	movl	$5, data+64(%rip)		# store 4
	lea	data(%rip), %rsi		# no access
	dec	%ecx
	jnz	1b
	nopl	16(%rsi)			# a nop with an operand: no access
	exit_0
	.data
	.balign	64
data:	.space	128

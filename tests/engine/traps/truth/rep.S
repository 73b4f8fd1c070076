# String instructions: a rep is one instruction, its iterations are counted apart.
# truth: instructions 30        # counted below
# truth: blocks 1
# truth: rep_instructions 6
# truth: rep_iterations 1179    # 1000 + 64 + 11 + 4 + 0 + 100
# truth: loads 8                # instructions that read: 2 rep movsb, repne scasb, repe cmpsb, rep lodsl, movsb, movsq, lodsq
# truth: stores 6               # instructions that write: 2 rep movsb, rep stosq, movsb, movsq, stosl
# truth: data_reads 1122        # 1000 + 11 + 2 × 4 + 0 + 100 + 1 + 1 + 1
# truth: data_writes 1067       # 1000 + 64 + 0 + 1 + 1 + 1
# truth: bytes_read 1436        # 1000 + 11 + 8 + 400 + 1 + 8 + 8
# truth: bytes_written 1525     # 1000 + 512 + 1 + 8 + 4
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	cld					# 1
	mov	$1000, %ecx			# 2
	lea	source(%rip), %rsi		# 3
	lea	target(%rip), %rdi		# 4
	rep movsb				# 5: 1000 iterations, 1000 reads and writes of 1
	mov	$64, %ecx			# 6
	lea	target(%rip), %rdi		# 7
	rep stosq				# 8: 64 iterations, 64 writes of 8
	mov	$100, %ecx			# 9
	lea	text(%rip), %rdi		# 10
	mov	$'x', %al			# 11
	repne scasb				# 12: 11 iterations: text has its x at 10
	mov	$100, %ecx			# 13
	lea	text(%rip), %rsi		# 14
	lea	other(%rip), %rdi		# 15
	repe cmpsb				# 16: 4 iterations: they differ at 3
	xor	%ecx, %ecx			# 17
	rep movsb				# 18: no iteration, no access
	mov	$100, %ecx			# 19
	lea	source(%rip), %rsi		# 20
	rep lodsl				# 21: 100 iterations, 100 reads of 4
	lea	source(%rip), %rsi		# 22
	lea	target(%rip), %rdi		# 23
	movsb					# 24: read and write of 1, no rep
	movsq					# 25: read and write of 8
	lodsq					# 26: read of 8
	stosl					# 27: write of 4
	exit_0					# 28, 29, 30
	.data
text:	.ascii	"abcdefghijxyz"
	.space	100
other:	.ascii	"abcXefghij"
	.space	100
source:	.space	4096
target:	.space	4096

# Direct and indirect calls, returns, indirect jumps: a call stores its return address, a ret loads it.
# truth: instructions 1405      # 2 + 100 × 10 in the loop + 300 ret + 100 ret $8 + 3
# truth: blocks 1102            # entry + 100 × (1:, 2nd call, 3rd call, push, lea, 2:, 3:) + function 300 + with_argument 100 + exit
# truth: branches 1100          # the nine below but push, lea, dec: 400 calls + 400 returns + 200 indirect jumps + 100 jnz
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: calls_direct 200
# truth: calls_indirect 200
# truth: returns 400
# truth: jumps_indirect 200
# truth: loads 600              # 400 returns, call through memory, jump through memory
# truth: stores 500             # 400 calls, push
# truth: data_reads 600
# truth: data_writes 500
# truth: bytes_read 4800
# truth: bytes_written 4000
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %r12d			# 1
	lea	function(%rip), %rbx		# 1
1:	call	function			# 100: store
	call	*%rbx				# 100: store
	call	*pointer(%rip)			# 100: load and store
	push	$5				# 100: store
	call	with_argument			# 100: store; its ret $8: load
	lea	2f(%rip), %rax			# 100
	jmp	*%rax				# 100
2:	jmp	*table(%rip)			# 100: load
3:	dec	%r12d				# 100
	jnz	1b				# 100
	exit_0					# 3
function: ret					# 300: load
with_argument: ret $8				# 100: load
	.data
pointer: .quad	function
table:	.quad	3b

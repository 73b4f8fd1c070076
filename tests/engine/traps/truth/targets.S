# Indirect calls to more targets than the engine's tables of them begin with, three times each: what is found in a table that grew counts the same.
# truth: instructions 180016    # 1 + 3 × 2 + 36000 × (call, ret, add, dec, jnz) + 3 × (dec, jnz) + 3
# truth: blocks 108008          # entry + 1: 3 + 2: 36000 + behind the call 36000 + functions 36000 + dec 3 + exit
# truth: branches 108003        # 36000 calls + 36000 returns + 36003 jnz
# truth: conditional 36003      # 36000 + 3
# truth: taken 35999            # 3 × 11999 + 2
# truth: not_taken 4            # 3 + 1
# truth: calls_indirect 36000
# truth: returns 36000
# truth: loads 36000            # returns
# truth: stores 36000           # calls
# truth: data_reads 36000
# truth: data_writes 36000
# truth: bytes_read 288000
# truth: bytes_written 288000
# truth: syscalls 1
	.include "truth.inc"
	.set	FUNCTIONS, 12000
	.globl	_start
_start:	mov	$3, %r12d			# 1
1:	lea	functions(%rip), %rbx		# 3
	mov	$FUNCTIONS, %ecx		# 3
2:	call	*%rbx				# 36000: store
	add	$8, %rbx			# 36000
	dec	%ecx				# 36000
	jnz	2b				# 36000: 3 not taken
	dec	%r12d				# 3
	jnz	1b				# 3: one not taken
	exit_0					# 3
	.balign	8
functions:
	.rept	FUNCTIONS
	ret					# 3: load
	.balign	8
	.endr

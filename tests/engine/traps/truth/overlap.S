# Blocks entered in their middle: counts split at the leaders.
# truth: instructions 1404          # mov + 100 × (nop, nop) + 200 × 5 + 100 × (dec, jnz) + exit 3
# truth: blocks 402                 # entry, 100 × 1:, 200 × 2:, 100 × dec, exit
# truth: branches 300
# truth: conditional 300
# truth: taken 199
# truth: not_taken 101
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
1:	nop					# 100
	nop					# 100
2:	nop					# 200: entered from above and by the jump below
	nop					# 200
	xor	$1, %edx			# 200
	test	$1, %dl				# 200
	jnz	2b				# 200: 100 taken
	dec	%ecx				# 100
	jnz	1b				# 100: 99 taken
	exit_0

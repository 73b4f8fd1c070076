# Conditional branches of every direction, jumps, loop and jrcxz.
# truth: instructions 8037      # 2 + 6 × 1000 (test, jz, jc, cmp, je, loop) + 4 × 500 (inc, jmp, dec, nop) + 1 + 11 + 10 + 10 + 3
# truth: blocks 5024            # entry + 1: 1000 + inc 500 + 2: 500 + 3: 1000 + cmp 1000 + 4: 1000 + mov 1 + 5: 11 + dec 10 + 6: 1
# truth: branches 4521          # conditional + unconditional
# truth: conditional 4011       # jz, jc, je, loop: 1000 each; jrcxz 11
# truth: taken 2500             # jz 500, je 1000, loop 999, jrcxz 1
# truth: not_taken 1511         # jz 500, jc 1000, loop 1, jrcxz 10
# truth: unconditional 510      # 500 + 10
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$1000, %ecx			# 1
	xor	%eax, %eax			# 1
1:	test	$1, %cl				# 1000
	jz	2f				# 1000: 500 taken (even), 500 not
	inc	%eax				# 500 (odd)
	jmp	3f				# 500
2:	dec	%eax				# 500 (even)
	nop					# 500
3:	jc	4f				# 1000: never: test cleared CF, inc and dec keep it
	cmp	%ecx, %ecx			# 1000
	je	4f				# 1000: always
	ud2
4:	loop	1b				# 1000: 999 taken
	mov	$10, %ecx			# 1
5:	jrcxz	6f				# 11: one taken
	dec	%ecx				# 10
	jmp	5b				# 10
6:	exit_0

# A counted loop.
# truth: instructions 2004   # mov + 1000 × (dec, jnz) + exit: mov, xor, syscall
# truth: blocks 1002         # the mov, 1000 × the loop (a leader: it is jumped to), the exit
# truth: branches 1000       # jnz
# truth: conditional 1000
# truth: taken 999
# truth: not_taken 1
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$1000, %ecx
1:	dec	%ecx
	jnz	1b
	exit_0

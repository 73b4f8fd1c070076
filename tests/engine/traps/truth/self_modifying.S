# Code that changes itself counts as it runs: by turns a jump over two instructions and a comparison (eb 02, 3c 02).
# truth: instructions 504           # mov + 100 × (xor, patched, dec, jnz) + 50 × (two nops, when it is no jump) + exit 3
# truth: blocks 202                 # entry, 100 × 1:, 100 × 3: (a jump's target: a leader both ways), exit
# truth: branches 150
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: unconditional 50
# truth: loads 100
# truth: stores 100
# truth: data_reads 100
# truth: data_writes 100
# truth: bytes_read 100
# truth: bytes_written 100
# truth: syscalls 1
	.include "truth.inc"
	.section .wtext, "awx"
	.globl	_start
_start:	mov	$100, %ecx
1:	xorb	$0xd7, 2f(%rip)			# 0xeb <-> 0x3c
2:	.byte	0x3c, 0x02			# cmp $2, %al — or jmp 3f
	nop
	nop
3:	dec	%ecx
	jnz	1b
	exit_0

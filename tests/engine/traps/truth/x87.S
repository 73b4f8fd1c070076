# x87 instructions: every one of the x87 counts as such, arithmetic ones as FP operations of extended precision too.
# truth: instructions 1304         # mov + 100 × 13 + exit 3
# truth: blocks 102
# truth: branches 100
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: x87 1100                  # all but dec and jnz
# truth: x87_operations 500        # fadd, fmul, fdiv, fsqrt, fsub
# truth: fp_divides 100
# truth: fp_square_roots 100
# truth: loads 300                 # fldl, fldt, fsubl
# truth: stores 200                # fstpl, fstpt
# truth: data_reads 300
# truth: data_writes 200
# truth: bytes_read 2600           # 8 + 10 + 8
# truth: bytes_written 1800        # 8 + 10
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$100, %ecx
1:	fninit
	fldl	data(%rip)
	fldt	data+16(%rip)
	fadd	%st(1), %st
	fmul	%st(1), %st
	fdiv	%st(1), %st
	fsqrt
	fsubl	data(%rip)
	fxch
	fstpl	data+32(%rip)
	fstpt	data+48(%rip)
	dec	%ecx
	jnz	1b
	exit_0
	.data
	.balign	64
data:	.double	2.0, 0
	.byte	0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0
	.space	64

# Where accesses and code lie: aligned or not, over the ends of lines and pages; ten rounds through three pages of code.
# truth: instructions 164       # mov + 10 × (jmp, 6 loads, jmp, 6 stores, dec, jnz) + mov, xor, syscall
# truth: blocks 32              # entry, 10 × (near, far, farther), the exit
# truth: branches 30
# truth: conditional 10
# truth: taken 9
# truth: not_taken 1
# truth: unconditional 20
# truth: loads 60
# truth: stores 60
# truth: data_reads 60
# truth: data_writes 60
# truth: bytes_read 430         # 10 × (8 + 8 + 16 + 8 + 2 + 1)
# truth: bytes_written 270      # 10 × (8 + 4 + 2 + 8 + 1 + 4)
# truth: syscalls 1
# truth: misaligned 70          # marked m
# truth: misaligned_pentium 60  # marked p: of 2 bytes only what crosses a multiple of 4
# truth: line_crossing 50       # marked l
# truth: line_crossing_loads 20
# truth: line_crossing_stores 30
# truth: page_crossing 10       # marked g
# truth: code_lines 4           # near, far, and two of farther
# truth: code_pages 3
	.include "truth.inc"
	.globl	_start
	.balign	4096
_start:	mov	$10, %ecx
near:	jmp	far
	.balign	4096
far:	mov	data+8(%rip), %rax		# 8
	mov	data+60(%rip), %rax		# 8: m p l
	movups	data+64(%rip), %xmm0		# 16
	mov	data+4092(%rip), %rax		# 8: m p l g
	mov	data+1(%rip), %ax		# 2: m
	mov	data+3(%rip), %al		# 1
	jmp	farther
	.balign	4096
	.space	60
farther:
	mov	%rax, data+65(%rip)		# 8: m p
	mov	%eax, data+126(%rip)		# 4: m p l
	mov	%ax, data+191(%rip)		# 2: m p l
	mov	%rax, data+252(%rip)		# 8: m p l
	mov	%al, data+320(%rip)		# 1
	mov	%eax, data+324(%rip)		# 4
	dec	%ecx
	jnz	near
	exit_0
	.data
	.balign	4096
data:	.space	8192

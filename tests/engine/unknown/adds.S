# Adds by paddq, which the forgetful decoder has no row for: from a register, from rip-relative memory, into a register of 32 bytes by VEX.
# The result is the exit status: 7 (1 + 2 + 4), so that an operand reached wrongly shows.
	.globl _start
_start:
	mov $1000, %ecx
	pxor %xmm1, %xmm1
1:	paddq %xmm1, %xmm1
	dec %ecx
	jnz 1b
	movq one(%rip), %xmm0
	paddq two(%rip), %xmm0
	lea four(%rip), %rbx
	paddq (%rbx), %xmm0
	movq %xmm0, %rdi
	mov $60, %eax
	syscall
	.section .rodata
	.balign 16
one:	.quad 1, 0
two:	.quad 2, 0
four:	.quad 4, 0
	.section .note.GNU-stack, "", @progbits

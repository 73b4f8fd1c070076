# paddq whose operand is on gs: the engine's own gs is another, and without a row it cannot move the operand.
	.globl _start
_start:
	mov $158, %eax
	mov $0x1001, %edi
	lea two(%rip), %rsi
	syscall
	pxor %xmm0, %xmm0
	paddq %gs:0, %xmm0
	movq %xmm0, %rdi
	mov $60, %eax
	syscall
	.section .rodata
	.balign 16
two:	.quad 2, 0
	.section .note.GNU-stack, "", @progbits

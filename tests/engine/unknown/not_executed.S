# Bytes that are no instruction, or one of unknown length, behind a branch that is always taken and behind exit: no harm.
	.globl _start
_start:
	xor %edi, %edi
	jz 1f
	lahf
	.byte 0x06, 0x0f, 0x39
1:	mov $60, %eax
	syscall
	lahf
	.byte 0x06
	.section .note.GNU-stack, "", @progbits

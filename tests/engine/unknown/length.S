# lahf, whose length the forgetful decoder does not know, and which the processor has.
	.globl _start
_start:
	xor %edi, %edi
	lahf
	mov $60, %eax
	syscall
	.section .note.GNU-stack, "", @progbits

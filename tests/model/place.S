/* Writes where its stack begins and where its first argument is: what decides which sets those fall into. */
	.globl _start
	.text
_start:
	mov	%rsp, %rax
	mov	16(%rsp), %rdx		/* argv[1] */
	push	%rdx
	push	%rax
	mov	$1, %eax		/* write */
	mov	$1, %edi
	mov	%rsp, %rsi
	mov	$16, %edx
	syscall
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits

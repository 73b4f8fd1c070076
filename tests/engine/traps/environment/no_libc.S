# fact: a program without libc starts with the kernel's stack and registers, and ends by its own call
	.text
	.globl _start
_start:	mov	%rsp, %r12
	test	$15, %r12			# the stack is aligned
	jnz	bad
	cmpq	$1, (%rsp)			# argc
	jne	bad
	cmpq	$0, 16(%rsp)			# argv ends
	jne	bad
	or	%rbx, %rdx			# all registers are 0
	or	%rax, %rdx
	or	%rcx, %rdx
	or	%rsi, %rdx
	or	%rdi, %rdx
	or	%rbp, %rdx
	or	%r8, %rdx
	or	%r9, %rdx
	or	%r10, %rdx
	or	%r11, %rdx
	or	%r13, %rdx
	or	%r14, %rdx
	or	%r15, %rdx
	jnz	bad
	mov	$1, %eax
	mov	$1, %edi
	lea	good(%rip), %rsi
	mov	$25, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
bad:	mov	$60, %eax
	mov	$1, %edi
	syscall
good:	.ascii	"yes as the kernel starts\n"

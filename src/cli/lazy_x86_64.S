/*
 * The first call of a function that is loaded when it is called: its stub (tools/lazy-libraries) has pushed the
 * function's number. The arguments stay as they are while lazy_find() loads it (%rax counts the vector registers of a
 * call with a variable number of them); then the function is called as if the stub had been it.
 */
	.text
	.globl lazy_call
	.hidden lazy_call
	.type lazy_call, @function
lazy_call:
	push %rax
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	push %r8
	push %r9
	sub $136, %rsp
	movups %xmm0, 0(%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movups %xmm5, 80(%rsp)
	movups %xmm6, 96(%rsp)
	movups %xmm7, 112(%rsp)
	mov 192(%rsp), %rdi
	call lazy_find
	mov %rax, %r11
	movups 0(%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	movups 64(%rsp), %xmm4
	movups 80(%rsp), %xmm5
	movups 96(%rsp), %xmm6
	movups 112(%rsp), %xmm7
	add $136, %rsp
	pop %r9
	pop %r8
	pop %rcx
	pop %rdx
	pop %rsi
	pop %rdi
	pop %rax
	add $8, %rsp
	jmp *%r11
	.size lazy_call, . - lazy_call

	.section .note.GNU-stack, "", @progbits

/* A kernel as a function that region.c calls: kernel_call(n) keeps the registers of its caller and calls kernel_body,
 * which is the kernel's own instructions and a return. The stack is aligned as where a program starts. On x86-64 the return
 * reads it: it lies in the middle of a page then, wherever the program's stack begins, so that no line at the start of a
 * page (thrash.S) shares its set of a cache.
 *
 *                      x86-64              aarch64
 *     kernel_body      1                   2                   instructions beyond the kernel's own: (keep x30,) return
 *       loads          1                   0 */

#if defined(__x86_64__)

.macro start
	.text
	.globl	kernel_call
	.type	kernel_call, %function
kernel_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rdi, N
	mov	%rsp, %rax
	and	$-4096, %rsp
	sub	$2032, %rsp
	push	%rax
	mov	-8(%rsp), %rax		/* not every cache fills on a write: of the return's line, */
	mov	-40(%rsp), %rax		/* and of what a kernel keeps below it */
	mov	-72(%rsp), %rax
	call	kernel_body		/* its return is at 0x800 of a page */
	pop	%rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	kernel_call, . - kernel_call
start_usage:
	mov	$60, %eax
	mov	$2, %edi
	syscall
	.balign	4096			/* lines and pages of its own */
	.globl	kernel_body
	.type	kernel_body, %function
kernel_body:
.endm

.macro finish
	ret
	.size	kernel_body, . - kernel_body
.endm

#elif defined(__aarch64__)

.macro start
	.text
	.globl	kernel_call
	.type	kernel_call, %function
kernel_call:
	stp	x29, x30, [sp, #-160]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	N, x0
	bl	kernel_body
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #160
	ret
	.size	kernel_call, . - kernel_call
start_usage:
	mov	x8, #93
	mov	x0, #2
	svc	#0
	.balign	4096			/* lines and pages of its own */
	.globl	kernel_body
	.type	kernel_body, %function
kernel_body:
	mov	x28, x30
.endm

.macro finish
	ret	x28
	.size	kernel_body, . - kernel_body
.endm

#endif

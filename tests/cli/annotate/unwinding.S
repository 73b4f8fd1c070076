/* Stubs that look whether the stack can be unwound to main from inside of them: stub_seen() is told of each. */
#if defined(__x86_64__)
	.altmacro
	.macro	stub name
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	pushfq
	.cfi_adjust_cfa_offset 8
	.irp	r, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pushq	%\r
	.cfi_adjust_cfa_offset 8
	.endr
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	subq	$512, %rsp
	fxsave64 (%rsp)
	call	stub_seen
	fxrstor64 (%rsp)
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 88
	.irp	r, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\r
	.cfi_adjust_cfa_offset -8
	.endr
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm
#else
	.altmacro
	.macro	stub name
	.globl	\name
	.type	\name, %function
\name:	.cfi_startproc
	sub	sp, sp, #688
	.cfi_def_cfa_offset 688
	stp	x29, x30, [sp]
	.cfi_offset x29, -688
	.cfi_offset x30, -680
	mrs	x16, nzcv
	str	x16, [sp, #16]
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18
	str	x\n, [sp, #(24 + 8 * \n)]
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	str	q\n, [sp, #(176 + 16 * \n)]
	.endr
	bl	stub_seen
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ldr	q\n, [sp, #(176 + 16 * \n)]
	.endr
	ldr	x16, [sp, #16]
	msr	nzcv, x16
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18
	ldr	x\n, [sp, #(24 + 8 * \n)]
	.endr
	ldp	x29, x30, [sp]
	add	sp, sp, #688
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm
#endif
	.macro	pair number
	stub	tare_asm_begin_\number
	stub	tare_asm_end_\number
	.endm
	.text
	.set	number, 0
	.rept	12
	pair	%number
	.set	number, number + 1
	.endr
	.noaltmacro
#if defined(__x86_64__)
	.section .note.GNU-stack, "", @progbits
#else
	.section .note.GNU-stack, "", %progbits
#endif

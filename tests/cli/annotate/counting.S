/* Stubs that count, in place of libtare's: entries and exits of each number, into tare_counts[2 × number + exit]. They
 * keep what libtare's keep, and on arm64 change what a call through a PLT entry may change. */
#if defined(__x86_64__)
	.altmacro
	.macro	stub name, id
	.globl	\name
	.type	\name, @function
\name:	pushfq
	movq	$-1, -64(%rsp)		/* below the caller's call: nobody's */
	incq	tare_counts+8*(\id)(%rip)
	popfq
	ret
	.size	\name, . - \name
	.endm
	.macro	pair number
	stub	tare_asm_begin_\number, %(2 * \number)
	stub	tare_asm_end_\number, %(2 * \number + 1)
	.endm
#else
	.altmacro
	.macro	stub name, id
	.globl	\name
	.type	\name, %function
\name:	adrp	x16, tare_counts
	add	x16, x16, :lo12:tare_counts
	ldr	x17, [x16, #(8 * \id)]
	add	x17, x17, #1
	str	x17, [x16, #(8 * \id)]
	ret
	.size	\name, . - \name
	.endm
	.macro	pair number
	stub	tare_asm_begin_\number, %(2 * \number)
	stub	tare_asm_end_\number, %(2 * \number + 1)
	.endm
#endif
	.text
	.set	number, 0
	.rept	100
	pair	%number
	.set	number, number + 1
	.endr
	.noaltmacro
	.bss
	.globl	tare_counts
	.p2align 3
tare_counts:
	.zero	1600
#if defined(__x86_64__)
	.section .note.GNU-stack, "", @progbits
#else
	.section .note.GNU-stack, "", %progbits
#endif

/* libp5mon's assembly stubs (Safford 1997, section 4.2.2): libtare's, under the thesis's names. A jump goes on in the
 * stub as if it had been called: it returns to the program. */
	.text
	.macro	STUB name to
	.globl	\name
	.type	\name, @function
\name:
	.byte	0xf3, 0x0f, 0x1e, 0xfa		/* endbr64 */
	jmp	*\to@GOTPCREL(%rip)
	.size	\name, . - \name
	.endm

	STUB	p5mon_asm_init, tare_asm_init
	.altmacro
	.macro	STUBS_OF number
	STUB	p5mon_asm_begreg_\number, tare_asm_begin_\number
	STUB	p5mon_asm_endreg_\number, tare_asm_end_\number
	.endm
	.set	stub, 0
	.rept	100
	STUBS_OF %stub
	.set	stub, stub + 1
	.endr
	.noaltmacro
	.section .note.GNU-stack, "", @progbits

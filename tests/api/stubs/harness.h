/* For assembly alone: what the harnesses of the machines share. See state.h. */
#include "api/asm_numbers.h"

/* Offsets in struct state. */
#define GENERAL 16384
#define FLAGS (GENERAL + 32 * 8)
#define HARNESS_SP (FLAGS + 8)

	.bss
	.globl	harness_components
	.p2align 3
harness_components:
	.zero	8

	/* ---- all stubs ---- */

	.macro	pair number
	.quad	tare_asm_begin_\number, tare_asm_end_\number
	.endm
	.section .data.rel.ro, "aw"
	.globl	harness_stubs
	.p2align 3
harness_stubs:
	each_number pair, TARE_ASM_STUBS
	.quad	tare_asm_init

	/* ---- stubs that forget ---- */

	/* needs: bits of harness_components */
	.macro	forgets what, needs, code
	.section .rodata.str, "aMS", %progbits, 1
771:	.string	"\what"
	.text
	.p2align 2
772:	\code
	ret
	.section .data.rel.ro, "aw"
	.quad	771b, 772b, \needs
	.endm

	.text

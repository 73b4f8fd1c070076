/* SPDX-License-Identifier: MIT */
/* For assembly alone: how many pairs of stubs there are, and a line for each number. */
#define TARE_ASM_STUBS 100

	/* \line 0, \line 1, …, \line n - 1 */
	.macro	each_number line, n
	.set	number, 0
	.rept	\n
	.altmacro
	\line	%number
	.noaltmacro
	.set	number, number + 1
	.endr
	.endm

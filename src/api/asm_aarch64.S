/* SPDX-License-Identifier: MIT */
/* The stubs for arm64: the twin of asm_x86_64.S, see there and in stubs.h.
 *
 * `bl` itself changes x30, and a PLT entry or a far branch that the linker puts between changes x16 and x17: the caller
 * keeps those three (tare_asm.h has a line that does). All else is as before: x0-x15, x18-x29, nzcv, v0-v31, fpsr, fpcr,
 * and with SVE z0-z31, p0-p15 and ffr. sp is a multiple of 16 wherever memory is reached by it (AAPCS64, 6.4.5.1; Linux
 * turns the check on), so that there is no other alignment to care for. arm64 Linux has no red zone.
 *
 * stub_pass() touches no vector; but Linux clears p0-p15, ffr and what is above v0-v31 in z0-z31 in every system call
 * (Documentation/arm64/sve.rst, 2). So with SVE (stub_sve) a stub that counts saves all of them, always. Streaming mode
 * of SME is ended by a system call, and no stub can bring it back: not for code between smstart and smstop.
 *
 * The symbols are marked as having a calling convention of their own: the dynamic linker, whose lazy binding keeps no
 * more than what that convention says, then binds them when a program is loaded. */
#include "api/asm_numbers.h"

	.arch	armv8-a+sve
	.text

	.macro	entry name
	.globl	\name
	.type	\name, %function
	.variant_pcs \name
	.p2align 5
\name:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x16, x17, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x16, -16
	.cfi_offset x17, -8
	.endm

	/* w16: 2 × number (+ 1) */
	.macro	stub name, id
	entry	\name
	adrp	x16, :got:tare_regions_on
	ldr	x16, [x16, #:got_lo12:tare_regions_on]
	ldr	w16, [x16]
	cbz	w16, .Loff_\@
	mov	w16, #\id
	b	stub_common
.Loff_\@:
	ldp	x16, x17, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x16
	.cfi_restore x17
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	pair number
	.altmacro
	stub	tare_asm_begin_\number, %(2 * \number)
	stub	tare_asm_end_\number, %(2 * \number + 1)
	.noaltmacro
	.endm
	each_number pair, TARE_ASM_STUBS

	entry	tare_asm_init
	mov	w16, #(2 * TARE_ASM_STUBS)
	b	stub_common
	.cfi_endproc
	.size	tare_asm_init, . - tare_asm_init

/* Offsets from x29 */
#define X18_FLAGS 144
#define ID 160
#define FRAME 176

	.macro	all_general what, by
	\what	x0, x1, [\by, #16]
	\what	x2, x3, [\by, #32]
	\what	x4, x5, [\by, #48]
	\what	x6, x7, [\by, #64]
	\what	x8, x9, [\by, #80]
	\what	x10, x11, [\by, #96]
	\what	x12, x13, [\by, #112]
	\what	x14, x15, [\by, #128]
	.endm

	/* 512 bytes at the register */
	.macro	all_vectors what, by
	\what	q0, q1, [\by, #0]
	\what	q2, q3, [\by, #32]
	\what	q4, q5, [\by, #64]
	\what	q6, q7, [\by, #96]
	\what	q8, q9, [\by, #128]
	\what	q10, q11, [\by, #160]
	\what	q12, q13, [\by, #192]
	\what	q14, q15, [\by, #224]
	\what	q16, q17, [\by, #256]
	\what	q18, q19, [\by, #288]
	\what	q20, q21, [\by, #320]
	\what	q22, q23, [\by, #352]
	\what	q24, q25, [\by, #384]
	\what	q26, q27, [\by, #416]
	\what	q28, q29, [\by, #448]
	\what	q30, q31, [\by, #480]
	.endm

	/* z or p registers at the register, in steps of their own size */
	.macro	all_z what, by
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	\what	z\n, [\by, #\n, mul vl]
	.endr
	.endm
	.macro	all_p what, by
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	\what	p\n, [\by, #\n, mul vl]
	.endr
	.endm

	.type	stub_common, %function
	.p2align 5
stub_common:
	.cfi_startproc
	.cfi_def_cfa sp, 16
	.cfi_offset x16, -16
	.cfi_offset x17, -8
	stp	x29, x30, [sp, #-FRAME]!
	.cfi_def_cfa_offset FRAME + 16
	.cfi_offset x29, -(FRAME + 16)
	.cfi_offset x30, -(FRAME + 8)
	mov	x29, sp
	.cfi_def_cfa x29, FRAME + 16
	all_general stp, sp
	mrs	x17, nzcv
	stp	x18, x17, [sp, #X18_FLAGS]
	str	x16, [sp, #ID]
	adrp	x1, stub_sve
	ldr	w1, [x1, #:lo12:stub_sve]
	cbz	w1, 1f
	rdvl	x1, #1			/* bytes of a z register; p and ffr take an eighth */
	lsl	x2, x1, #5
	sub	sp, sp, x2
	mov	x2, sp
	all_z	str, x2
	lsl	x3, x1, #2		/* 17 eighths are less than 4 */
	sub	sp, sp, x3
	mov	x3, sp
	all_p	str, x3
	rdffr	p0.b
	str	p0, [x3, #16, mul vl]
1:
.Lpass:
	mov	w0, w16
	bl	stub_pass
	cbnz	x0, .Lslow
.Lpassed:
	adrp	x1, stub_sve
	ldr	w1, [x1, #:lo12:stub_sve]
	cbz	w1, 2f
	rdvl	x1, #1
	mov	x3, sp
	lsl	x1, x1, #2
	add	x2, x3, x1
	ldr	p0, [x3, #16, mul vl]
	wrffr	p0.b
	all_p	ldr, x3
	all_z	ldr, x2
2:	mov	sp, x29
	ldp	x18, x17, [sp, #X18_FLAGS]
	msr	nzcv, x17
	all_general ldp, sp
	.cfi_remember_state
	ldp	x29, x30, [sp], #FRAME
	.cfi_def_cfa sp, 16
	.cfi_restore x29
	.cfi_restore x30
	ldp	x16, x17, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x16
	.cfi_restore x17
	ret
	.cfi_restore_state

	/* x0: the bytes of the vector state */
.Lslow:
	sub	sp, sp, x0
	mrs	x1, fpsr
	mrs	x2, fpcr
	str	x1, [sp, #512]
	str	x2, [sp, #520]
	str	x0, [sp, #528]
	all_vectors stp, sp
	msr	fpcr, xzr
	ldr	w0, [x29, #ID]
	bl	stub_slow
	strb	w0, [x29, #ID + 4]
	all_vectors ldp, sp
	ldr	x1, [sp, #512]
	ldr	x2, [sp, #520]
	msr	fpsr, x1
	msr	fpcr, x2
	ldr	x0, [sp, #528]
	add	sp, sp, x0
	ldrb	w1, [x29, #ID + 4]
	cbz	w1, .Lpassed
	ldr	w16, [x29, #ID]		/* once more, as the first time */
	b	.Lpass
	.cfi_endproc
	.size	stub_common, . - stub_common

	.section .note.GNU-stack, "", %progbits

/* Regions from assembly, one line each:
 *
 *     #include <tare_asm.h>               in a .S file, which the C preprocessor reads
 *
 *             TARE_ASM_BEGIN 7            region number 7 begins here …
 *             …
 *             TARE_ASM_END 7              … and ends
 *
 * Nothing is changed by either: no general register, no flag, no vector register, and on x86-64 not the 128 bytes below the
 * stack pointer. They call the stubs of libtare (tare.h) through the global offset table, in position-independent code
 * and other. Not where the frame is known by the stack pointer in unwinding that must be right inside of a stub:
 * `tare annotate-asm` cares for that.
 *
 * x86-64 is in AT&T syntax. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_ASM_H
#define TARE_ASM_H

#ifndef __ASSEMBLER__
#error "tare_asm.h is for assembly; in C, see tare.h"
#endif

#if defined(__x86_64__)

	.macro	TARE_ASM_BEGIN number
	leaq	-128(%rsp), %rsp
	call	*tare_asm_begin_\number@GOTPCREL(%rip)
	leaq	128(%rsp), %rsp
	.endm

	.macro	TARE_ASM_END number
	leaq	-128(%rsp), %rsp
	call	*tare_asm_end_\number@GOTPCREL(%rip)
	leaq	128(%rsp), %rsp
	.endm

#elif defined(__aarch64__)

	.macro	TARE_ASM_CALL stub
	sub	sp, sp, #32
	stp	x16, x17, [sp]
	str	x30, [sp, #16]
	adrp	x16, :got:\stub
	ldr	x16, [x16, #:got_lo12:\stub]
	blr	x16
	ldr	x30, [sp, #16]
	ldp	x16, x17, [sp]
	add	sp, sp, #32
	.endm

	.macro	TARE_ASM_BEGIN number
	TARE_ASM_CALL tare_asm_begin_\number
	.endm

	.macro	TARE_ASM_END number
	TARE_ASM_CALL tare_asm_end_\number
	.endm

#else
#error "tare has no stubs for this architecture"
#endif

#endif

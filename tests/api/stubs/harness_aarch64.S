/* See state.h. Vectors: with SVE z0-z31 at 1024, p0-p15 at 9216, ffr at 9728, each in steps of its own size; without,
 * v0-v31 at 0. fpsr at 512, fpcr at 520. general[31] is sp. */
#include "harness.h"

#define SVE 1 /* bit */

	.arch	armv8-a+sve
	.macro	sve what, by
	mov	x9, #1024
	add	x9, \by, x9
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	\what	z\n, [x9, #\n, mul vl]
	.endr
	mov	x9, #9216
	add	x9, \by, x9
	.endm
	.macro	predicates what
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	\what	p\n, [x9, #\n, mul vl]
	.endr
	.endm
	.macro	vectors what, by
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
	.macro	components to
	adrp	\to, harness_components
	ldr	\to, [\to, #:lo12:harness_components]
	.endm

	.globl	harness_call
	.type	harness_call, %function
harness_call:
	.cfi_startproc
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
	mov	x4, sp
	str	x4, [x1, #HARNESS_SP]
	str	x1, [x3, #8]
	mov	sp, x3
	components x5
	tbz	x5, #SVE, 1f
	sve	ldr, x0
	mov	x10, #512
	add	x10, x9, x10
	ldr	p0, [x10]
	wrffr	p0.b
	predicates ldr
	b	2f
1:	vectors	ldp, x0
2:	ldr	x5, [x0, #512]
	msr	fpsr, x5
	ldr	x5, [x0, #520]
	msr	fpcr, x5
	ldr	x5, [x0, #FLAGS]
	msr	nzcv, x5
	mov	x30, x2
	.irp	n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
	ldr	x\n, [x0, #GENERAL+\n*8]
	.endr
	ldr	x0, [x0, #GENERAL]
	blr	x30
	str	x0, [sp, #16]
	ldr	x0, [sp, #8]
	.irp	n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	str	x\n, [x0, #GENERAL+\n*8]
	.endr
	ldr	x1, [sp, #16]
	str	x1, [x0, #GENERAL]
	mov	x1, sp
	str	x1, [x0, #GENERAL+248]
	mrs	x1, nzcv
	str	x1, [x0, #FLAGS]
	ldr	x1, [x0, #HARNESS_SP]
	mov	sp, x1
	components x5
	tbz	x5, #SVE, 1f
	sve	str, x0
	predicates str
	mov	x10, #512
	add	x10, x9, x10
	rdffr	p0.b
	str	p0, [x10]
	b	2f
1:	vectors	stp, x0
2:	mrs	x5, fpsr
	str	x5, [x0, #512]
	mrs	x5, fpcr
	str	x5, [x0, #520]
	msr	fpcr, xzr
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
	.cfi_endproc
	.size	harness_call, . - harness_call

	/* x0-x17, flags, v0-v7 and v16-v31, the upper halves of v8-v15, fpsr; all of SVE that is above and beside */
	.globl	harness_change_all
	.type	harness_change_all, %function
harness_change_all:
	components x5
	tbz	x5, #SVE, 1f
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	pfalse	p\n\().b
	.endr
	wrffr	p0.b
1:
	.irp	n, 0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	movi	v\n\().16b, #0xba
	.endr
	.irp	n, 8,9,10,11,12,13,14,15
	mov	v\n\().d[1], xzr
	.endr
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
	mov	x\n, #0xbad
	.endr
	msr	fpsr, x0
	cmp	x0, x1
	ret
	.size	harness_change_all, . - harness_change_all

/* ---- stubs that forget ---- */

	.section .data.rel.ro, "aw"
	.globl	harness_forgetful
	.p2align 3
harness_forgetful:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
	forgets	x\n, 1, "add x\n, x\n, #1"
	.endr
	forgets	nzcv, 1, "cmp x0, x0"
	forgets	fpsr, 1, "msr fpsr, xzr"
	forgets	fpcr, 1, "msr fpcr, xzr"
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	forgets	v\n, 1, "eor v\n\().16b, v\n\().16b, v\n\().16b"
	.endr
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	forgets	z\n, 3, "mov v\n\().16b, v\n\().16b"
	.endr
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	forgets	p\n, 3, "pfalse p\n\().b"
	.endr
	forgets	ffr, 3, "setffr"
	forgets	"the caller's stack", 1, "strb wzr, [sp, #33]"
	.xword	0, 0, 0

/* ---- all stubs, by way of the table of linked functions ---- */

	/* a table's entry itself changes x16 and x17 */
	.globl	harness_linked
harness_linked:
	.xword	0

	.section .note.GNU-stack, "", %progbits

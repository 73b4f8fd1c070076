/* See state.h. Vectors: with SVE z0-z31 at 1024, p0-p15 at 9216, ffr at 9728, each in steps of its own size; without,
 * v0-v31 at 0. fpsr at 512, fpcr at 520. general[31] is sp. */
#define GENERAL 16384
#define FLAGS (GENERAL + 32 * 8)
#define HARNESS_SP (FLAGS + 8)
#define SVE 1 /* bit */

	.arch	armv8-a+sve
	.text

	.macro	sve what, by
	mov	x9, #1024
	add	x9, \by, x9
	\what	z0, [x9, #0, mul vl]
	\what	z1, [x9, #1, mul vl]
	\what	z2, [x9, #2, mul vl]
	\what	z3, [x9, #3, mul vl]
	\what	z4, [x9, #4, mul vl]
	\what	z5, [x9, #5, mul vl]
	\what	z6, [x9, #6, mul vl]
	\what	z7, [x9, #7, mul vl]
	\what	z8, [x9, #8, mul vl]
	\what	z9, [x9, #9, mul vl]
	\what	z10, [x9, #10, mul vl]
	\what	z11, [x9, #11, mul vl]
	\what	z12, [x9, #12, mul vl]
	\what	z13, [x9, #13, mul vl]
	\what	z14, [x9, #14, mul vl]
	\what	z15, [x9, #15, mul vl]
	\what	z16, [x9, #16, mul vl]
	\what	z17, [x9, #17, mul vl]
	\what	z18, [x9, #18, mul vl]
	\what	z19, [x9, #19, mul vl]
	\what	z20, [x9, #20, mul vl]
	\what	z21, [x9, #21, mul vl]
	\what	z22, [x9, #22, mul vl]
	\what	z23, [x9, #23, mul vl]
	\what	z24, [x9, #24, mul vl]
	\what	z25, [x9, #25, mul vl]
	\what	z26, [x9, #26, mul vl]
	\what	z27, [x9, #27, mul vl]
	\what	z28, [x9, #28, mul vl]
	\what	z29, [x9, #29, mul vl]
	\what	z30, [x9, #30, mul vl]
	\what	z31, [x9, #31, mul vl]
	mov	x9, #9216
	add	x9, \by, x9
	.endm
	.macro	predicates what
	\what	p0, [x9, #0, mul vl]
	\what	p1, [x9, #1, mul vl]
	\what	p2, [x9, #2, mul vl]
	\what	p3, [x9, #3, mul vl]
	\what	p4, [x9, #4, mul vl]
	\what	p5, [x9, #5, mul vl]
	\what	p6, [x9, #6, mul vl]
	\what	p7, [x9, #7, mul vl]
	\what	p8, [x9, #8, mul vl]
	\what	p9, [x9, #9, mul vl]
	\what	p10, [x9, #10, mul vl]
	\what	p11, [x9, #11, mul vl]
	\what	p12, [x9, #12, mul vl]
	\what	p13, [x9, #13, mul vl]
	\what	p14, [x9, #14, mul vl]
	\what	p15, [x9, #15, mul vl]
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
	ldr	x1, [x0, #GENERAL+8]
	ldr	x2, [x0, #GENERAL+16]
	ldr	x3, [x0, #GENERAL+24]
	ldr	x4, [x0, #GENERAL+32]
	ldr	x5, [x0, #GENERAL+40]
	ldr	x6, [x0, #GENERAL+48]
	ldr	x7, [x0, #GENERAL+56]
	ldr	x8, [x0, #GENERAL+64]
	ldr	x9, [x0, #GENERAL+72]
	ldr	x10, [x0, #GENERAL+80]
	ldr	x11, [x0, #GENERAL+88]
	ldr	x12, [x0, #GENERAL+96]
	ldr	x13, [x0, #GENERAL+104]
	ldr	x14, [x0, #GENERAL+112]
	ldr	x15, [x0, #GENERAL+120]
	ldr	x16, [x0, #GENERAL+128]
	ldr	x17, [x0, #GENERAL+136]
	ldr	x18, [x0, #GENERAL+144]
	ldr	x19, [x0, #GENERAL+152]
	ldr	x20, [x0, #GENERAL+160]
	ldr	x21, [x0, #GENERAL+168]
	ldr	x22, [x0, #GENERAL+176]
	ldr	x23, [x0, #GENERAL+184]
	ldr	x24, [x0, #GENERAL+192]
	ldr	x25, [x0, #GENERAL+200]
	ldr	x26, [x0, #GENERAL+208]
	ldr	x27, [x0, #GENERAL+216]
	ldr	x28, [x0, #GENERAL+224]
	ldr	x29, [x0, #GENERAL+232]
	ldr	x0, [x0, #GENERAL]
	blr	x30
	str	x0, [sp, #16]
	ldr	x0, [sp, #8]
	str	x1, [x0, #GENERAL+8]
	str	x2, [x0, #GENERAL+16]
	str	x3, [x0, #GENERAL+24]
	str	x4, [x0, #GENERAL+32]
	str	x5, [x0, #GENERAL+40]
	str	x6, [x0, #GENERAL+48]
	str	x7, [x0, #GENERAL+56]
	str	x8, [x0, #GENERAL+64]
	str	x9, [x0, #GENERAL+72]
	str	x10, [x0, #GENERAL+80]
	str	x11, [x0, #GENERAL+88]
	str	x12, [x0, #GENERAL+96]
	str	x13, [x0, #GENERAL+104]
	str	x14, [x0, #GENERAL+112]
	str	x15, [x0, #GENERAL+120]
	str	x16, [x0, #GENERAL+128]
	str	x17, [x0, #GENERAL+136]
	str	x18, [x0, #GENERAL+144]
	str	x19, [x0, #GENERAL+152]
	str	x20, [x0, #GENERAL+160]
	str	x21, [x0, #GENERAL+168]
	str	x22, [x0, #GENERAL+176]
	str	x23, [x0, #GENERAL+184]
	str	x24, [x0, #GENERAL+192]
	str	x25, [x0, #GENERAL+200]
	str	x26, [x0, #GENERAL+208]
	str	x27, [x0, #GENERAL+216]
	str	x28, [x0, #GENERAL+224]
	str	x29, [x0, #GENERAL+232]
	str	x30, [x0, #GENERAL+240]
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
	pfalse	p0.b
	pfalse	p1.b
	pfalse	p2.b
	pfalse	p3.b
	pfalse	p4.b
	pfalse	p5.b
	pfalse	p6.b
	pfalse	p7.b
	pfalse	p8.b
	pfalse	p9.b
	pfalse	p10.b
	pfalse	p11.b
	pfalse	p12.b
	pfalse	p13.b
	pfalse	p14.b
	pfalse	p15.b
	wrffr	p0.b
1:
	movi	v0.16b, #0xba
	movi	v1.16b, #0xba
	movi	v2.16b, #0xba
	movi	v3.16b, #0xba
	movi	v4.16b, #0xba
	movi	v5.16b, #0xba
	movi	v6.16b, #0xba
	movi	v7.16b, #0xba
	movi	v16.16b, #0xba
	movi	v17.16b, #0xba
	movi	v18.16b, #0xba
	movi	v19.16b, #0xba
	movi	v20.16b, #0xba
	movi	v21.16b, #0xba
	movi	v22.16b, #0xba
	movi	v23.16b, #0xba
	movi	v24.16b, #0xba
	movi	v25.16b, #0xba
	movi	v26.16b, #0xba
	movi	v27.16b, #0xba
	movi	v28.16b, #0xba
	movi	v29.16b, #0xba
	movi	v30.16b, #0xba
	movi	v31.16b, #0xba
	mov	v8.d[1], xzr
	mov	v9.d[1], xzr
	mov	v10.d[1], xzr
	mov	v11.d[1], xzr
	mov	v12.d[1], xzr
	mov	v13.d[1], xzr
	mov	v14.d[1], xzr
	mov	v15.d[1], xzr
	mov	x0, #0xbad
	mov	x1, #0xbad
	mov	x2, #0xbad
	mov	x3, #0xbad
	mov	x4, #0xbad
	mov	x5, #0xbad
	mov	x6, #0xbad
	mov	x7, #0xbad
	mov	x8, #0xbad
	mov	x9, #0xbad
	mov	x10, #0xbad
	mov	x11, #0xbad
	mov	x12, #0xbad
	mov	x13, #0xbad
	mov	x14, #0xbad
	mov	x15, #0xbad
	mov	x16, #0xbad
	mov	x17, #0xbad
	msr	fpsr, x0
	cmp	x0, x1
	ret
	.size	harness_change_all, . - harness_change_all

	.bss
	.globl	harness_components
	.p2align 3
harness_components:
	.zero	8

/* ---- stubs that forget ---- */

	.macro	forgets what, needs, code, more=nop, still=nop
	.section .rodata.str, "aMS", %progbits, 1
771:	.string	"\what"
	.text
	.p2align 2
772:	\code
	\more
	\still
	ret
	.section .data.rel.ro, "aw"
	.xword	771b, 772b, \needs
	.endm

	.section .data.rel.ro, "aw"
	.globl	harness_forgetful
	.p2align 3
harness_forgetful:
	forgets	x0, 1, "add x0, x0, #1"
	forgets	x1, 1, "add x1, x1, #1"
	forgets	x2, 1, "add x2, x2, #1"
	forgets	x3, 1, "add x3, x3, #1"
	forgets	x4, 1, "add x4, x4, #1"
	forgets	x5, 1, "add x5, x5, #1"
	forgets	x6, 1, "add x6, x6, #1"
	forgets	x7, 1, "add x7, x7, #1"
	forgets	x8, 1, "add x8, x8, #1"
	forgets	x9, 1, "add x9, x9, #1"
	forgets	x10, 1, "add x10, x10, #1"
	forgets	x11, 1, "add x11, x11, #1"
	forgets	x12, 1, "add x12, x12, #1"
	forgets	x13, 1, "add x13, x13, #1"
	forgets	x14, 1, "add x14, x14, #1"
	forgets	x15, 1, "add x15, x15, #1"
	forgets	x16, 1, "add x16, x16, #1"
	forgets	x17, 1, "add x17, x17, #1"
	forgets	x18, 1, "add x18, x18, #1"
	forgets	x19, 1, "add x19, x19, #1"
	forgets	x20, 1, "add x20, x20, #1"
	forgets	x21, 1, "add x21, x21, #1"
	forgets	x22, 1, "add x22, x22, #1"
	forgets	x23, 1, "add x23, x23, #1"
	forgets	x24, 1, "add x24, x24, #1"
	forgets	x25, 1, "add x25, x25, #1"
	forgets	x26, 1, "add x26, x26, #1"
	forgets	x27, 1, "add x27, x27, #1"
	forgets	x28, 1, "add x28, x28, #1"
	forgets	x29, 1, "add x29, x29, #1"
	forgets	nzcv, 1, "cmp x0, x0"
	forgets	fpsr, 1, "msr fpsr, xzr"
	forgets	fpcr, 1, "msr fpcr, xzr"
	forgets	v0, 1, "eor v0.16b, v0.16b, v0.16b"
	forgets	v1, 1, "eor v1.16b, v1.16b, v1.16b"
	forgets	v2, 1, "eor v2.16b, v2.16b, v2.16b"
	forgets	v3, 1, "eor v3.16b, v3.16b, v3.16b"
	forgets	v4, 1, "eor v4.16b, v4.16b, v4.16b"
	forgets	v5, 1, "eor v5.16b, v5.16b, v5.16b"
	forgets	v6, 1, "eor v6.16b, v6.16b, v6.16b"
	forgets	v7, 1, "eor v7.16b, v7.16b, v7.16b"
	forgets	v8, 1, "eor v8.16b, v8.16b, v8.16b"
	forgets	v9, 1, "eor v9.16b, v9.16b, v9.16b"
	forgets	v10, 1, "eor v10.16b, v10.16b, v10.16b"
	forgets	v11, 1, "eor v11.16b, v11.16b, v11.16b"
	forgets	v12, 1, "eor v12.16b, v12.16b, v12.16b"
	forgets	v13, 1, "eor v13.16b, v13.16b, v13.16b"
	forgets	v14, 1, "eor v14.16b, v14.16b, v14.16b"
	forgets	v15, 1, "eor v15.16b, v15.16b, v15.16b"
	forgets	v16, 1, "eor v16.16b, v16.16b, v16.16b"
	forgets	v17, 1, "eor v17.16b, v17.16b, v17.16b"
	forgets	v18, 1, "eor v18.16b, v18.16b, v18.16b"
	forgets	v19, 1, "eor v19.16b, v19.16b, v19.16b"
	forgets	v20, 1, "eor v20.16b, v20.16b, v20.16b"
	forgets	v21, 1, "eor v21.16b, v21.16b, v21.16b"
	forgets	v22, 1, "eor v22.16b, v22.16b, v22.16b"
	forgets	v23, 1, "eor v23.16b, v23.16b, v23.16b"
	forgets	v24, 1, "eor v24.16b, v24.16b, v24.16b"
	forgets	v25, 1, "eor v25.16b, v25.16b, v25.16b"
	forgets	v26, 1, "eor v26.16b, v26.16b, v26.16b"
	forgets	v27, 1, "eor v27.16b, v27.16b, v27.16b"
	forgets	v28, 1, "eor v28.16b, v28.16b, v28.16b"
	forgets	v29, 1, "eor v29.16b, v29.16b, v29.16b"
	forgets	v30, 1, "eor v30.16b, v30.16b, v30.16b"
	forgets	v31, 1, "eor v31.16b, v31.16b, v31.16b"
	forgets	z0, 3, "mov v0.16b, v0.16b"
	forgets	z1, 3, "mov v1.16b, v1.16b"
	forgets	z2, 3, "mov v2.16b, v2.16b"
	forgets	z3, 3, "mov v3.16b, v3.16b"
	forgets	z4, 3, "mov v4.16b, v4.16b"
	forgets	z5, 3, "mov v5.16b, v5.16b"
	forgets	z6, 3, "mov v6.16b, v6.16b"
	forgets	z7, 3, "mov v7.16b, v7.16b"
	forgets	z8, 3, "mov v8.16b, v8.16b"
	forgets	z9, 3, "mov v9.16b, v9.16b"
	forgets	z10, 3, "mov v10.16b, v10.16b"
	forgets	z11, 3, "mov v11.16b, v11.16b"
	forgets	z12, 3, "mov v12.16b, v12.16b"
	forgets	z13, 3, "mov v13.16b, v13.16b"
	forgets	z14, 3, "mov v14.16b, v14.16b"
	forgets	z15, 3, "mov v15.16b, v15.16b"
	forgets	z16, 3, "mov v16.16b, v16.16b"
	forgets	z17, 3, "mov v17.16b, v17.16b"
	forgets	z18, 3, "mov v18.16b, v18.16b"
	forgets	z19, 3, "mov v19.16b, v19.16b"
	forgets	z20, 3, "mov v20.16b, v20.16b"
	forgets	z21, 3, "mov v21.16b, v21.16b"
	forgets	z22, 3, "mov v22.16b, v22.16b"
	forgets	z23, 3, "mov v23.16b, v23.16b"
	forgets	z24, 3, "mov v24.16b, v24.16b"
	forgets	z25, 3, "mov v25.16b, v25.16b"
	forgets	z26, 3, "mov v26.16b, v26.16b"
	forgets	z27, 3, "mov v27.16b, v27.16b"
	forgets	z28, 3, "mov v28.16b, v28.16b"
	forgets	z29, 3, "mov v29.16b, v29.16b"
	forgets	z30, 3, "mov v30.16b, v30.16b"
	forgets	z31, 3, "mov v31.16b, v31.16b"
	forgets	p0, 3, "pfalse p0.b"
	forgets	p1, 3, "pfalse p1.b"
	forgets	p2, 3, "pfalse p2.b"
	forgets	p3, 3, "pfalse p3.b"
	forgets	p4, 3, "pfalse p4.b"
	forgets	p5, 3, "pfalse p5.b"
	forgets	p6, 3, "pfalse p6.b"
	forgets	p7, 3, "pfalse p7.b"
	forgets	p8, 3, "pfalse p8.b"
	forgets	p9, 3, "pfalse p9.b"
	forgets	p10, 3, "pfalse p10.b"
	forgets	p11, 3, "pfalse p11.b"
	forgets	p12, 3, "pfalse p12.b"
	forgets	p13, 3, "pfalse p13.b"
	forgets	p14, 3, "pfalse p14.b"
	forgets	p15, 3, "pfalse p15.b"
	forgets	ffr, 3, "setffr"
	forgets	"the caller's stack", 1, "strb wzr, [sp, #33]"
	.xword	0, 0, 0

/* ---- all stubs ---- */

	.altmacro
	.macro	pair number
	.xword	tare_asm_begin_\number, tare_asm_end_\number
	.endm
	.globl	harness_stubs
harness_stubs:
	.set	number, 0
	.rept	100
	pair	%number
	.set	number, number + 1
	.endr
	.xword	tare_asm_init
	.noaltmacro

	/* a table's entry itself changes x16 and x17 */
	.globl	harness_linked
harness_linked:
	.xword	0

	.section .note.GNU-stack, "", %progbits

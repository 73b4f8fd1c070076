/* SPDX-License-Identifier: MIT */
/* The stubs for x86-64: one call from any assembly, after which nothing is changed but the program's region. See
 * stubs.h for what is called.
 *
 * A stub finds at (%rsp) the return address, at any alignment, and nothing else is known: DF or AC may be set, the
 * x87 may hold MMX values, MXCSR may trap. So in this order:
 *   rcx                 pushed; jrcxz tells "regions are not counted" without touching a flag
 *   flags               pushed; put back by sahf (SF ZF AF PF CF) and an addition (OF), for popf takes some 20 cycles.
 *                       popf it is when a bit was set that those do not restore: DF, AC (both cleared for C)
 *   rax rdx rsi rdi r8-r11, rbp   pushed; the others are preserved by C functions (System V ABI, 3.2.1)
 *   vectors, masks, x87, MXCSR    not touched by stub_pass(); behind it, xsave of all but AMX tiles (which no function
 *                       of C uses) in the size that CPUID gave; fxsave where there is no xsave
 *
 * Stack below the program's: 128 bytes and what stub_pass() takes, in all less than 4 KiB; the first time in a thread
 * the vector state too (2.6 KiB with AVX-512). */
#include "api/asm_numbers.h"

	.text

	/* Nothing, but tare's engine knows it: what comes is left out, and is back behind the caller's call
	 * (src/engine/runtime). nopw id(%rax,%rax) */
	.macro	engine_mark id
	.byte	0x66, 0x0f, 0x1f, 0x84, 0x00
	.long	0x54416000 + \id
	.endm

	/* 2 × number (+ 1) in cl */
	.macro	stub name, id
	.globl	\name
	.type	\name, @function
	.p2align 4
.Lstub_\id:
\name:
	.cfi_startproc
	endbr64
	engine_mark \id
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rcx, 0
	movq	tare_regions_on@GOTPCREL(%rip), %rcx
	movl	(%rcx), %ecx
	jrcxz	.Loff_\@
	movb	$\id, %cl
	jmp	stub_common
.Loff_\@:
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rcx
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

	/* Whether regions are counted or not: names are made here. */
	.globl	tare_asm_init
	.type	tare_asm_init, @function
	.p2align 4
.Lstub_init:
tare_asm_init:
	.cfi_startproc
	endbr64
	engine_mark (2 * TARE_ASM_STUBS)
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rcx, 0
	movb	$(2 * TARE_ASM_STUBS), %cl
	jmp	stub_common
	.cfi_endproc
	.size	tare_asm_init, . - tare_asm_init

/* Offsets from rbp, which points at the program's rbp. */
#define FLAGS 72
#define ID 80 /* below rcx */

	.macro	save register
	pushq	\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endm
	.macro	restore register
	popq	\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endm

	.type	stub_common, @function
	.p2align 5
stub_common:
	.cfi_startproc
	.cfi_def_cfa %rsp, 16
	.cfi_offset %rcx, -16
	pushq	%rcx		/* cl: the id; no flag may change yet */
	.cfi_adjust_cfa_offset 8
	pushfq
	.cfi_adjust_cfa_offset 8
	save	%rax
	save	%rdx
	save	%rsi
	save	%rdi
	save	%r8
	save	%r9
	save	%r10
	save	%r11
	save	%rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	testl	$(1 << 18 | 1 << 10), FLAGS(%rbp)	/* AC, DF */
	jnz	.Lodd_flags
.Lplain_flags:
	movzbl	%cl, %edi
	call	stub_pass
	testq	%rax, %rax
	jnz	.Lslow
.Ldone:
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	restore	%rbp
	restore	%r11
	restore	%r10
	restore	%r9
	restore	%r8
	restore	%rdi
	restore	%rsi
	restore	%rdx
	movl	8(%rsp), %eax
	testl	stub_popf_bits(%rip), %eax
	jnz	.Lpopf
	movb	%ah, %cl
	xchgb	%al, %ah		/* ah: SF ZF AF PF CF */
	andb	$8, %cl		/* OF is bit 11 */
	addb	$0x78, %cl		/* 0x80 overflows, 0x78 does not */
	sahf
	.cfi_remember_state
	restore	%rax
	leaq	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
	restore	%rcx
	ret
	.cfi_restore_state
.Lpopf:
	restore	%rax
	popfq
	.cfi_adjust_cfa_offset -8
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	restore	%rcx
	ret
	.cfi_endproc
	.size	stub_common, . - stub_common

	/* Of one piece with stub_common: another state of unwinding. */
	.type	stub_apart, @function
stub_apart:
	.cfi_startproc
	.cfi_def_cfa %rbp, 104
	.cfi_offset %rcx, -16
	.cfi_offset %rax, -40
	.cfi_offset %rdx, -48
	.cfi_offset %rsi, -56
	.cfi_offset %rdi, -64
	.cfi_offset %r8, -72
	.cfi_offset %r9, -80
	.cfi_offset %r10, -88
	.cfi_offset %r11, -96
	.cfi_offset %rbp, -104
.Lodd_flags:
	pushq	$2		/* the flag that is always set */
	popfq
	jmp	.Lplain_flags

	/* rax: the bytes of the vector state. fninit and ldmxcsr: C code finds what the ABI promises. */
.Lslow:
	subq	%rax, %rsp
	andq	$-64, %rsp
	movl	stub_xsave_low(%rip), %eax
	movl	stub_xsave_high(%rip), %edx
	testl	%eax, %eax
	jz	.Lfxsave
	xorl	%ecx, %ecx		/* the header: xrstor refuses what is not 0 in it */
	movq	%rcx, 512(%rsp)
	movq	%rcx, 520(%rsp)
	movq	%rcx, 528(%rsp)
	movq	%rcx, 536(%rsp)
	movq	%rcx, 544(%rsp)
	movq	%rcx, 552(%rsp)
	movq	%rcx, 560(%rsp)
	movq	%rcx, 568(%rsp)
	xsave64	(%rsp)
	fninit
	ldmxcsr	stub_mxcsr(%rip)
	movzbl	ID(%rbp), %edi
	call	stub_slow
	movb	%al, ID+1(%rbp)
	movl	stub_xsave_low(%rip), %eax
	movl	stub_xsave_high(%rip), %edx
	xrstor64 (%rsp)
.Lslow_done:
	testb	$1, ID+1(%rbp)
	jz	.Ldone
	movq	%rbp, %rsp		/* once more, as the first time */
	andq	$-16, %rsp
	movzbl	ID(%rbp), %ecx
	jmp	.Lplain_flags
.Lfxsave:
	fxsave64 (%rsp)
	fninit
	ldmxcsr	stub_mxcsr(%rip)
	movzbl	ID(%rbp), %edi
	call	stub_slow
	movb	%al, ID+1(%rbp)
	fxrstor64 (%rsp)
	jmp	.Lslow_done
	.cfi_endproc
	.size	stub_apart, . - stub_apart

	.section .rodata
	.p2align 2
	.globl	stub_table
	.hidden	stub_table
	.type	stub_table, @object
stub_table:
	.macro	offset id
	.long	.Lstub_\id - stub_table
	.endm
	each_number offset, (2 * TARE_ASM_STUBS)
	.long	.Lstub_init - stub_table
	.size	stub_table, . - stub_table
stub_mxcsr:
	.long	0x1f80

	.section .note.GNU-stack, "", @progbits

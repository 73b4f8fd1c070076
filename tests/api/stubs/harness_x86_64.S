/* See state.h. */
#include "harness.h"

	.globl	harness_call
	.type	harness_call, @function
harness_call:
	.cfi_startproc
	.irp	r, rbx, rbp, r12, r13, r14, r15
	pushq	%\r
	.endr
	movq	%rsp, HARNESS_SP(%rsi)
	movq	%rdx, (%rcx)
	movq	%rsi, 8(%rcx)
	movq	%rcx, %rsp
	movl	harness_components(%rip), %eax
	movl	4+harness_components(%rip), %edx
	xrstor64 (%rdi)
	pushq	FLAGS(%rdi)
	popfq
	movq	GENERAL+1*8(%rdi), %rcx
	movq	GENERAL+2*8(%rdi), %rdx
	movq	GENERAL+3*8(%rdi), %rbx
	movq	GENERAL+5*8(%rdi), %rbp
	movq	GENERAL+6*8(%rdi), %rsi
	.irp	n, 8,9,10,11,12,13,14,15
	movq	GENERAL+\n*8(%rdi), %r\n
	.endr
	movq	GENERAL(%rdi), %rax
	movq	GENERAL+7*8(%rdi), %rdi
	call	*(%rsp)
	movq	%rax, 16(%rsp)
	movq	8(%rsp), %rax
	movq	%rcx, GENERAL+1*8(%rax)
	movq	%rdx, GENERAL+2*8(%rax)
	movq	%rbx, GENERAL+3*8(%rax)
	movq	%rsp, GENERAL+4*8(%rax)
	movq	%rbp, GENERAL+5*8(%rax)
	movq	%rsi, GENERAL+6*8(%rax)
	movq	%rdi, GENERAL+7*8(%rax)
	.irp	n, 8,9,10,11,12,13,14,15
	movq	%r\n, GENERAL+\n*8(%rax)
	.endr
	movq	16(%rsp), %rcx
	movq	%rcx, GENERAL(%rax)
	movq	HARNESS_SP(%rax), %rsp
	pushfq
	popq	FLAGS(%rax)
	pushq	$2
	popfq
	movq	%rax, %rcx
	movl	harness_components(%rip), %eax
	movl	4+harness_components(%rip), %edx
	xsave64	(%rcx)
	fninit
	ldmxcsr	usual_mxcsr(%rip)
	.irp	r, r15, r14, r13, r12, rbp, rbx
	popq	%\r
	.endr
	ret
	.cfi_endproc
	.size	harness_call, . - harness_call

	/* rax rdx rcx rsi rdi r8-r11, flags, x87, all vectors and masks, the status of MXCSR */
	.globl	harness_change_all
	.type	harness_change_all, @function
harness_change_all:
	movl	harness_components(%rip), %eax
	movl	4+harness_components(%rip), %edx
	xrstor64 changed(%rip)
	fninit
	ldmxcsr	changed_mxcsr(%rip)
	.irp	r, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	movabsq	$0x1badc0de1badc0de, %\r
	.endr
	addq	%rax, %rax
	ret
	.size	harness_change_all, . - harness_change_all

	.section .rodata
usual_mxcsr:
	.long	0x1f80
changed_mxcsr:
	.long	0x1fbf
	.p2align 6
changed:	/* as xrstor reads it: everything as after reset */
	.zero	4096

/* ---- stubs that forget ---- */

#define AVX (1 << 2)
#define AVX512 (7 << 5)

	.section .data.rel.ro, "aw"
	.globl	harness_forgetful
	.p2align 3
harness_forgetful:
	.irp	r, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	forgets	\r, 0, "leaq 1(%\r), %\r"
	.endr
	forgets	CF, 0, "cmc"
	forgets	"DF set", 0, "std"
	forgets	"DF clear", 0, "cld"
	forgets	"SF ZF AF PF OF", 0, "testl %eax, %eax"
	forgets	AC, 0, "pushfq; xorl $0x40000, (%rsp); popfq"
	forgets	ID, 0, "pushfq; xorl $0x200000, (%rsp); popfq"
	forgets	OF, 0, "pushfq; xorl $0x800, (%rsp); popfq"
	forgets	AF, 0, "pushfq; xorl $0x10, (%rsp); popfq"
	forgets	MXCSR, 0, "pushq $0x1f80; ldmxcsr (%rsp); leaq 8(%rsp), %rsp"
	forgets	"x87 control", 0, "pushq $0x37f; fldcw (%rsp); leaq 8(%rsp), %rsp"
	forgets	"x87 status", 0, "fnclex"
	forgets	"x87 top", 0, "fincstp"
	forgets	"x87 tags", 0, "emms"
	forgets	"x87 registers", 0, "fxch"
	.irp	n, 0,1,2,3,4,5,6,7
	forgets	mm\n, 0, "pxor %mm\n, %mm\n"
	.endr
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	forgets	xmm\n, 0, "pxor %xmm\n, %xmm\n"
	forgets	ymm\n, AVX, "vmovdqa %xmm\n, %xmm\n"
	forgets	zmm\n, AVX512, "vmovdqa %ymm\n, %ymm\n"
	.endr
	.irp	n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	forgets	zmm\n, AVX512, "vpxord %zmm\n, %zmm\n, %zmm\n"
	.endr
	.irp	n, 0,1,2,3,4,5,6,7
	forgets	k\n, AVX512, "kxorw %k\n, %k\n, %k\n"
	.endr
	.irp	n, 1
	forgets	"k1 above 16 bits", AVX512, "kmovw %k1, %k1"
	.endr
	forgets	"the caller's stack", 0, "movb $0, 33(%rsp)"
	.quad	0, 0, 0

/* ---- all stubs, by way of the table of linked functions ---- */

	.macro	linked name
	.text
772:	jmp	\name@PLT
	.section .data.rel.ro, "aw"
	.quad	772b
	.endm
	.macro	linked_pair number
	linked	tare_asm_begin_\number
	linked	tare_asm_end_\number
	.endm
	.globl	harness_linked
harness_linked:
	each_number linked_pair, TARE_ASM_STUBS
	linked	tare_asm_init

	.section .note.GNU-stack, "", @progbits

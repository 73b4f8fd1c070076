/* Named regions in assembly, nested and in a loop:  TARE_EVENTS=page-faults:u,task-clock ./regions
 *
 *     cc regions.S -ltare
 *
 * Each TARE_ASM_… is one line that changes no register and no flag. Their numbers get names in main. */
#include <tare_asm.h>

#define PAGE 4096
#define PAGES 100

	.bss
	.p2align 12
fresh:	/* static memory has its page faults when it is first written */
	.zero	3 * PAGES * PAGE

	.section .rodata
whole:	.string	"whole"
part:	.string	"part"

	.text
	.globl	main

#if defined(__x86_64__)

	.type	main, @function
main:
	subq	$8, %rsp
	xorl	%edi, %edi
	leaq	whole(%rip), %rsi
	xorl	%edx, %edx
	call	*tare_asm_name@GOTPCREL(%rip)
	movl	$1, %edi
	leaq	part(%rip), %rsi
	xorl	%edx, %edx
	call	*tare_asm_name@GOTPCREL(%rip)

	TARE_ASM_BEGIN 0
	leaq	fresh(%rip), %rax
	movl	$3, %ecx
.Lpart:
	TARE_ASM_BEGIN 1
	movl	$PAGES, %edx
.Lpage:
	movb	$1, (%rax)
	addq	$PAGE, %rax
	decl	%edx
	jne	.Lpage
	decl	%ecx
	TARE_ASM_END 1			/* between the flags and the jump that needs them */
	jne	.Lpart
	TARE_ASM_END 0
	xorl	%eax, %eax
	addq	$8, %rsp
	ret
	.size	main, . - main
	.section .note.GNU-stack, "", @progbits

#elif defined(__aarch64__)

	.type	main, %function
main:
	stp	x29, x30, [sp, #-16]!
	mov	w0, #0
	adrp	x1, whole
	add	x1, x1, :lo12:whole
	mov	x2, #0
	bl	tare_asm_name
	mov	w0, #1
	adrp	x1, part
	add	x1, x1, :lo12:part
	mov	x2, #0
	bl	tare_asm_name

	TARE_ASM_BEGIN 0
	adrp	x3, fresh
	add	x3, x3, :lo12:fresh
	mov	w4, #3
	mov	w5, #1
.Lpart:
	TARE_ASM_BEGIN 1
	mov	w6, #PAGES
.Lpage:
	strb	w5, [x3]
	add	x3, x3, #PAGE
	subs	w6, w6, #1
	b.ne	.Lpage
	subs	w4, w4, #1
	TARE_ASM_END 1			// between the flags and the jump that needs them
	b.ne	.Lpart
	TARE_ASM_END 0
	mov	w0, #0
	ldp	x29, x30, [sp], #16
	ret
	.size	main, . - main
	.section .note.GNU-stack, "", %progbits

#endif

/* Regions by the marks of tare.h: an instruction that sets rdi, and a nop that the engine knows. Neither is counted, nor in a region; lines
   marked in are what is. The text ends with the last page. */
	.globl _start
	.macro mark code
	.byte 0x66, 0x0f, 0x1f, 0x87
	.long 0x54415200 + \code
	.endm
	.macro enter name
	lea \name(%rip), %rdi
	mark 4
	.endm
	.macro leave name
	lea \name(%rip), %rdi
	mark 5
	.endm
	.macro text name
\name:	.asciz "\name"
	.endm
	.macro nops n
	.rept \n
	nop
	.endr
	.endm

	.text
_start:
	mov $10, %r12d
1:	enter empty             /* a branch leads to the mark */
	leave empty
	dec %r12d
	jnz 1b

	mov $10, %r12d
2:	enter seven
	nops 7                  /* in: 10 × 7 */
	leave seven
	dec %r12d
	jnz 2b

	enter outer
	nops 3                  /* in */
	enter inner
	nops 2                  /* in both */
	leave inner
	nops 4                  /* in */
	enter inner
	enter inner             /* a recursion: counted once */
	nop                     /* in both */
	leave inner
	nop                     /* in both */
	leave inner
	leave outer

	mov $10, %r12d          /* by handle: in a register, in memory, in rdi itself */
	mov $1, %ebx
3:	lea handle(%rip), %rax
	mov %rax, %rdi
	mark 2
	nops 5                  /* in */
	lea handles(%rip), %rsi /* in: 10 × 6 */
	mov -8(%rsi,%rbx,8), %rdi
	mark 3
	dec %r12d
	jnz 3b
	lea handle(%rip), %rdi
	mov %rdi, %rdi
	mark 2
	nop                     /* in */
	mov handles(%rip), %rdi
	mark 3
	lea handle(%rip), %rax  /* rdi is what the mark's instruction made it */
	cmp %rax, %rdi
	jne fail

	mov $10, %r12d          /* a mark behind a branch that is not taken, and one that is */
4:	enter branches
	test $1, %r12b          /* in */
	jz 5f                   /* in */
	nop                     /* in, every other time: 10 × 2 + 5 */
	leave branches
	jmp 6f
5:	leave branches
6:	dec %r12d
	jnz 4b

	xor %edi, %edi          /* no handle, no mark: nothing happens */
	mov none(%rip), %rdi
	mark 2
	mov none(%rip), %rdi
	mark 3
	jmp 7f
	lea wrong(%rip), %rdi
7:	mark 4                  /* reached without its first instruction: a nop */
	lea wrong(%rip), %rax
	mark 4
	lea wrong(%rip), %edi
	mark 4
	add $0, %rdi
	mark 4
	leave stray             /* left, never entered */

	enter others            /* displacements that are not a mark's, the nearest ones and one that a compiler would write: nops */
	.irp code, 0, 1, 6, 7, 8, 10, 0x1000, -0x54415200 + 16
	lea handle(%rip), %rdi  /* in: 8 × 2 */
	mark \code
	.endr
	leave others

	enter long
	.rept 34
	.byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 /* in: 34 × 14 bytes */
	.endr
	.rept 5
	.byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0 /* in: 5 × 7, up to 511 */
	.endr
	leave long

	enter open
	jmp at_page
	.p2align 12
	.fill 4096 - 3, 1, 0x90
at_page:                        /* the mark's first instruction crosses a page */
	leave open
	enter open
	jmp at_nop              /* in */
	.p2align 12
	.fill 4096 - 7 - 4, 1, 0x90
at_nop:                         /* its nop does */
	leave open
	xor %edi, %edi
	mov $60, %eax
	jmp last
fail:	mov $1, %edi
	mov $60, %eax
	syscall
	.p2align 12
	.fill 4096 - 9, 1, 0x90
last:	syscall                 /* never behind it: lea up to the end of the text, and no nop */
	lea wrong(%rip), %rdi

	.data
	text empty
	text seven
	text outer
	text inner
	text branches
	text wrong
	text stray
	text others
	text long
	text open
	text by_handle
	.p2align 3
handle:	.quad by_handle
handles: .quad handle
none:	.quad 0

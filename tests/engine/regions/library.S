/* Regions that the program names itself, entered and left by every kind of call. What is between the calls is counted, and nothing of the
   calls: truths are the lines marked in. */
	.globl _start
#include "named.h"
	.text
_start:
	xor %eax, %eax
	xor %edi, %edi
	magic 0x54415201
	cmp $1, %eax            /* under the engine */
	jne fail

	mov $1000, %r12d        /* direct: 1000 × (nop, lea) and, the last time, nop, lea */
1:	lea direct(%rip), %rdi
	call enter
	nop                     /* in */
	lea direct(%rip), %rdi  /* in */
	call leave
	dec %r12d
	jnz 1b

	mov $10, %r12d          /* by a jump, as of a PLT: 10 × 2 */
2:	lea jumped(%rip), %rdi
	call plt_enter
	nop                     /* in */
	lea jumped(%rip), %rdi  /* in */
	call plt_leave
	dec %r12d
	jnz 2b

	mov $10, %r12d          /* by register and by memory: 10 × 5 */
3:	lea indirect(%rip), %rdi
	lea enter(%rip), %rbx
	call *%rbx
	nop                     /* in */
	test %r12d, %r12d       /* in */
	jz 3b                   /* in */
	lea indirect(%rip), %rdi /* in */
	lea leave(%rip), %rbx   /* in */
	call *%rbx
	lea indirect(%rip), %rdi
	call *got_enter(%rip)
	nop                     /* in: 10 × 2 more */
	lea indirect(%rip), %rdi /* in */
	call *got_leave(%rip)
	dec %r12d
	jnz 3b

	mov $10, %r12d          /* the call is all that its block has: 10 × (lea, jmp), and lea again by the other way */
4:	lea alone(%rip), %rdi
	call enter
	lea alone(%rip), %rdi   /* in */
	test $1, %r12b          /* in */
	jnz 5f                  /* in */
	nop                     /* in, every other time */
5:	call leave
	dec %r12d
	jnz 4b

	mov $10, %r12d          /* stubs, as annotate-asm calls them: 10 × 1; by hand: 10 × 2 */
6:	lea -128(%rsp), %rsp
	call stub_begin_7
	lea 128(%rsp), %rsp
	nop                     /* in */
	.byte 0x48, 0x8d, 0x64, 0x24, 0x80
	call stub_end_7
	.byte 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0
	call stub_begin_42
	nop                     /* in */
	nop                     /* in */
	call stub_end_42
	dec %r12d
	jnz 6b

	mov $10, %r12d          /* by the last jump of a function: 10 × (call, lea, and 3 or 4 of the function's) */
7:	lea tail(%rip), %rdi
	call enter
	mov %r12d, %eax         /* in */
	call ends               /* in */
	dec %r12d
	jnz 7b

	lea outer(%rip), %rdi   /* overlapping, nested in itself, left once too often */
	call enter
	lea overlap(%rip), %rdi /* in outer */
	call enter              /* in outer */
	call enter              /* in both */
	lea outer(%rip), %rdi   /* in both */
	call leave              /* in overlap, with the endbr64 that it comes to */
	lea overlap(%rip), %rdi /* in overlap */
	call leave              /* in overlap, likewise: the inner one */
	nop                     /* in overlap */
	call leave
	call leave
	lea open(%rip), %rdi
	call enter
	xor %edi, %edi          /* in open: 3 */
	mov $231, %eax          /* in open */
	syscall                 /* in open */
fail:	mov $231, %eax
	mov $9, %edi
	syscall

ends:	lea tail(%rip), %rdi    /* in */
	test $1, %al            /* in */
	jnz 8f                  /* in */
	nop                     /* in, every other time */
	jmp leave
8:	jmp *got_leave(%rip)

enter:	magic 0x54415202
	ret
leave:	endbr64
	magic 0x54415203
	ret
stub_begin_7:
	endbr64
	magic 0x5441600e
	ret
stub_end_7:
	endbr64
	magic 0x5441600f
	ret
stub_begin_42:
	magic 0x54416054
	ret
stub_end_42:
	magic 0x54416055
	ret

	.data
	named direct
	named jumped
	named indirect
	named alone
	named tail
	named outer
	named overlap
	named open

/* Nested calls, each level in a region of its own (PLAIN: the same without regions), entered and left by every kind of call. Every return but
   two in a turn goes back to the call that was made last: 100 mispredictions, in a machine whose return stack holds 8 or more. */
	.globl _start
#include "named.h"
	.macro with name, call:vararg
#ifndef PLAIN
	lea \name(%rip), %rdi
	\call
#endif
	.endm
	.text
_start:	mov $50, %r12d
1:	call one
	dec %r12d
	jnz 1b
	mov $231, %eax
	xor %edi, %edi
	syscall

one:	with one_r, call enter
	call two
	call lost
	call two
	with one_r, call leave
	ret
two:	with two_r, call plt_enter
	call three
	call three
	with two_r, call plt_leave
	ret
three:	lea enter(%rip), %rbx
	with three_r, call *%rbx
	call four
	with three_r, call *got_leave(%rip)
	ret
four:
#ifndef PLAIN
	call stub_begin_7
#endif
	call five
#ifndef PLAIN
	lea -128(%rsp), %rsp
	call stub_end_7
	.byte 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0
#endif
	ret
five:
#ifndef PLAIN
	lea deepest_r(%rip), %rdi
	call enter
	push %rax               /* in */
	pop %rax                /* in */
	lea deepest_r(%rip), %rdi /* in */
	jmp leave
#else
	ret
#endif
lost:	call 2f                 /* which returns to who called this */
2:	add $8, %rsp
	ret

enter:	endbr64
	magic 0x54415202
	ret
leave:	magic 0x54415203
	ret
stub_begin_7:
	magic 0x5441600e
	ret
stub_end_7:
	endbr64
	magic 0x5441600f
	ret

	.data
	named one_r
	named two_r
	named three_r
	named deepest_r

/* Three functions deep, and ranges that overlap: a_begin … b_end is a, c_begin … c_end is b, with c_begin before b_end. */
	.globl _start, one, two, three, a_begin, a_end, b_begin, b_end
	.text
_start:
	mov $7, %r13d
1:	call one
	dec %r13d
	jnz 1b
	mov $3, %r13d
a_begin:
	nop
	nop
b_begin:
	nop
	dec %r13d
a_end:
	nop
	jz b_end
	jmp a_begin      /* leaves b for a */
b_end:
	call outside
	mov $231, %eax
	xor %edi, %edi
	syscall
outside:
	jmp a_tail
a_tail:	ret
one:	nop              /* 3 + 2 * two */
	call two
	call two
	ret
two:	push %rbx        /* 6 + 2 * three */
	call three
	lea three(%rip), %rbx
	call *%rbx
	pop %rbx
	ret $0
three:	nop              /* 4 */
	jmp 3f
3:	nop
	ret

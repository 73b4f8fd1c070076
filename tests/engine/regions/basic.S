/* Truths: every count below is by counting lines. */
	.globl _start, f, g, loop_begin, loop_end, rec
	.text
_start:
	mov $10, %r12d
1:	call f           /* 10 passes of f */
	dec %r12d
	jnz 1b
	mov $5, %edi
	call rec         /* one pass of rec: 6 deep */
	mov $100, %ecx
loop_begin:              /* code: entered once, 2 * 100 + what nop2 does */
	call nop2
	dec %ecx
	jnz loop_begin
loop_end:
	nop
	mov $231, %eax
	xor %edi, %edi
	syscall
f:	nop              /* f: 3 + g's 4 = 7 instructions */
	call g
	ret
g:	nop
	nop
	jmp h            /* tail call */
h:	ret
nop2:	nop              /* 3 */
	nop
	ret
rec:	test %edi, %edi  /* 5 levels of 5, then 3 */
	jz 2f
	dec %edi
	call rec
2:	ret

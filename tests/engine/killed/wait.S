/* Without arguments: 100 turns, then it waits for ever; with one: it calls itself "turns" and runs for ever; with two: it reads for ever.
 * instructions when killed in the pause 205  # cmp, ja + mov + 100 × (dec, jnz) + mov + syscall
 */
	.globl _start
_start:	cmpq	$1, (%rsp)		/* 1 */
	ja	2f			/* 1 */
	mov	$100, %ecx		/* 1 */
1:	dec	%ecx			/* 100 */
	jnz	1b			/* 100 */
	mov	$34, %eax		/* 1: pause */
	syscall				/* 1 */
2:	cmpq	$2, (%rsp)
	ja	4f
	mov	$157, %eax		/* prctl(PR_SET_NAME): seen from outside, the loop is next */
	mov	$15, %edi
	lea	name(%rip), %rsi
	syscall
3:	jmp	3b
4:	xor	%eax, %eax		/* read */
	xor	%edi, %edi
	lea	-64(%rsp), %rsi
	mov	$1, %edx
	syscall
	jmp	4b
name:	.asciz	"turns"
	.section .note.GNU-stack, "", @progbits

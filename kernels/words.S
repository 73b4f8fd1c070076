/* Counts the characters, words and lines of n lines of text (wc's inner loop; Safford, 5.6). Each line is the same: 26 characters, five words. */
#include "start.h"

	start
	xor	%r8d, %r8d		/* characters */
	xor	%r9d, %r9d		/* words */
	xor	%r10d, %r10d		/* lines */
1:	lea	line(%rip), %rsi
	xor	%edx, %edx		/* 1: in a word */
2:	movzbl	(%rsi), %eax
	inc	%rsi
	inc	%r8
	cmp	$10, %al
	je	4f
	cmp	$32, %al
	je	3f
	test	%edx, %edx
	jnz	2b
	mov	$1, %edx
	inc	%r9
	jmp	2b
3:	xor	%edx, %edx
	jmp	2b
4:	inc	%r10
	dec	N
	jnz	1b
	finish

	.section .rodata
line:	.ascii	"tare tells what it weighs\n"

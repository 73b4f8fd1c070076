/* n times: three integer multiplications, two divisions and five instructions that do nothing. */
#include "start.h"

	start
	mov	$3, %ecx
1:	imul	%rsi, %rsi
	imul	$5, %rdi, %rdi
	mov	$100, %eax
	mul	%ecx
	div	%ecx
	mov	$7, %eax
	cltd
	idiv	%ecx
	nop
	nop
	nop
	nopw	0(%rax)
	pause
	dec	N
	jnz	1b
	finish

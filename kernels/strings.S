/* n times: rep stosb over 10 bytes, rep movsq over 3 words, rep lodsb over none, and one lodsb, stosb and scasb each. */
#include "start.h"

	start
	lea	bytes(%rip), %r8
1:	mov	%r8, %rdi
	mov	$10, %ecx
	rep stosb
	mov	%r8, %rsi
	mov	$3, %ecx
	lea	64(%r8), %rdi
	rep movsq
	lodsb
	stosb
	scasb
	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
bytes:	.skip	4096

/* Reads one word of each of n pieces of 64 bytes, one after the other, and all of them again: n up to 1,000,000. */
#include "start.h"

	start
	cmp	$1000000, N
	ja	start_usage
	mov	$2, %edx
1:	lea	a(%rip), %rdi
	mov	%ebx, %ecx
	jmp	2f
	.balign	64			/* the loop is in one fetch block */
2:	mov	(%rdi), %eax
	add	$64, %rdi
	dec	%ecx
	jnz	2b
	dec	%edx
	jnz	1b
	finish

	.bss
	.balign	65536
a:	.skip	1000000 * 64

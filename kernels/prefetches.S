/* Asks for n lines of 64 bytes by prefetcht0, one after the other, and then reads each: n up to 400. */
#include "start.h"

	start
	cmp	$400, N
	ja	start_usage
	lea	a(%rip), %rdi
	mov	%ebx, %ecx
1:	prefetcht0 (%rdi)
	add	$64, %rdi
	dec	%ecx
	jnz	1b
	lea	a(%rip), %rdi
2:	mov	(%rdi), %eax
	add	$64, %rdi
	dec	N
	jnz	2b
	finish

	.bss
	.balign	65536
a:	.skip	400 * 64

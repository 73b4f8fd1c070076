/* Reads and writes n elements of 8 bytes, one after the other, from an address 1 beyond a line's start (after Safford,
 * 5.5.2); n up to 500,000. */
#include "start.h"

	start
#if defined(__x86_64__)
	cmp	$500000, N
	ja	start_usage
	lea	area+1(%rip), %rdi
1:	mov	(%rdi), %rax
	mov	%rax, (%rdi)
	add	$8, %rdi
	dec	N
	jnz	1b
#else
	ldr	x0, =500000
	cmp	N, x0
	b.hi	start_usage
	adrp	x1, area
	add	x1, x1, #1
1:	ldr	x0, [x1]
	str	x0, [x1], #8
	subs	N, N, #1
	b.ne	1b
#endif
	finish

	.bss
	.balign	4096
area:	.skip	4000064

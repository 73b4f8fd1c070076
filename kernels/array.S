/* a[i] = a[i] + 1 over n elements of 4 bytes (Korn's third kernel), n up to 1,000,000; a begins at a page. */
#include "start.h"

	start
#if defined(__x86_64__)
	cmp	$1000000, N
	ja	start_usage
	lea	a(%rip), %rdi
1:	mov	(%rdi), %eax
	add	$1, %eax
	mov	%eax, (%rdi)
	add	$4, %rdi
	dec	N
	jnz	1b
#else
	ldr	x0, =1000000
	cmp	N, x0
	b.hi	start_usage
	adrp	x1, a
1:	ldr	w0, [x1]
	add	w0, w0, #1
	str	w0, [x1], #4
	subs	N, N, #1
	b.ne	1b
#endif
	finish

	.bss
	.balign	4096
a:	.skip	4000000

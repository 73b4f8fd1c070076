/* n sweeps over WORDS words, STRIDE bytes apart, which are written with STORES, and read without: n up to 100,000. */
#include "start.h"

	start
	cmp	$100000, N
	ja	start_usage
1:	lea	a(%rip), %rdi
	mov	$WORDS, %ecx
#ifdef STORES
2:	mov	%ecx, (%rdi)
#else
2:	mov	(%rdi), %eax
#endif
	add	$STRIDE, %rdi
	dec	%ecx
	jnz	2b
	dec	N
	jnz	1b
	finish

	.bss
	.balign	65536
a:	.skip	WORDS * STRIDE

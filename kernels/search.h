/* Looks at one word of each of n structures of ELEMENT bytes for a key that none of them has: n up to 100,000. */
#include "start.h"

	start
	cmp	$100000, N
	ja	start_usage
	lea	elements(%rip), %rdi
1:	cmpl	$1, (%rdi)
	je	2f
	add	$ELEMENT, %rdi
	dec	N
	jnz	1b
2:	finish

	.bss
	.balign	65536			/* entries of a TLB can stand for several pages */
elements:
	.skip	100000 * ELEMENT

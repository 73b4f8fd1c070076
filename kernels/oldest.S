/* Words 64 KiB apart, all in one set of a cache: n times five of them, and then n times eight, each time with one more word before each. That word is
 * the newest whenever another is brought in. Of eight ways LRU keeps all six of the first part, and of the second that word alone; FIFO drops it as
 * the oldest all the same; a tree of bits (PLRU) brings all others into the half of the set where that word is not, and they do not fit there.
 * Unrolled: valgrind counts short loops of a constant number of turns differently. */
#include "start.h"

#define APART 65536

.macro again other
	add	(%rdi), %eax
	add	\other*APART(%rdi), %edx
.endm

	start
	cmp	$1000000, N
	ja	start_usage
	lea	words(%rip), %rdi
	.irp	before, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
	add	\before*APART(%rdi), %edx	/* whatever was in the set: all of it is older than what comes, in the order of the ways */
	.endr
	mov	N, %rcx
1:	again	1
	again	2
	again	3
	again	4
	again	5
	dec	%rcx
	jnz	1b
2:	again	1
	again	2
	again	3
	again	4
	again	5
	again	6
	again	7
	again	8
	dec	N
	jnz	2b
	finish

	.bss
	.balign	APART
words:	.skip	25 * APART

/* n sweeps over 192 pages, and before each of these over the same 16 others. LRU keeps the 16 and misses each of the 192; FIFO drops what came first,
 * used or not: of 64 entries 48 are then left for the 192, and each time that they have all been filled the 16 are missed once more.
 *
 * The 16 are 513 pages apart, and the first one is at a multiple of 32 MiB: they share a set of each cache, and of each table that is indexed by
 * some of a page's lower bits, or by those and others exclusive-or'ed. So each access has to find its page in the TLB itself. */
#include "start.h"

#define ALIGNED (32 << 20)
#define AGAIN 16
#define AGAIN_APART (513 * 4096)
#define OTHERS 192
#define OTHERS_APART 8192

	start
	cmp	$10000, N
	ja	start_usage
	lea	words + ALIGNED - 1(%rip), %rdi
	and	$-ALIGNED, %rdi
1:	lea	AGAIN*AGAIN_APART(%rdi), %rsi
	mov	$OTHERS, %ecx
2:
	.irp	page, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	add	\page*AGAIN_APART(%rdi), %eax
	.endr
	add	(%rsi), %edx
	add	$OTHERS_APART, %rsi
	dec	%ecx
	jnz	2b
	dec	N
	jnz	1b
	finish

	.bss
	.balign	65536
words:	.skip	ALIGNED + AGAIN * AGAIN_APART + OTHERS * OTHERS_APART

/* n sweeps over 192 jumps, each at the start of a page: they fall into few sets of a cache, and need more pages than a small
 * TLB has. n up to 100,000. */
#include "start.h"

#define JUMPS 192

	start
	cmp	$100000, N
	ja	start_usage
	jmp	first
	.balign	64
last:	dec	N
	jnz	first
	finish

	.balign	4096
first:	.rept	JUMPS - 1
	jmp	. + 4096
	.balign	4096
	.endr
	jmp	last

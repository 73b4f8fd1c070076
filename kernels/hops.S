/* n jumps in a row, each to the next one. There are 10,000; the kernel jumps to where n are left. */
#include "start.h"

#define HOPS 10000

	start
	cmp	$HOPS, N
	ja	start_usage
	lea	last(%rip), %rdx
	lea	(N,N), %rax
	sub	%rax, %rdx
	jmp	*%rdx
first:	.rept	HOPS
	.byte	0xeb, 0			/* jmp to the next */
	.endr
last:
	.if	last - first - 2 * HOPS
	.error	"a jump has other than two bytes"
	.endif
	finish

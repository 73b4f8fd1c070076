/* n instructions of 4 bytes in a row, as Power's are (Nieto, 4.6): additions that wait for one another. There are 262,144 of
 * them, from a page's start on; the kernel jumps to where n are left. */
#include "start.h"

#define INSTRUCTIONS 262144

	start
	cmp	$INSTRUCTIONS, N
	ja	start_usage
	lea	last(%rip), %rdx
	lea	0(,N,4), %rax
	sub	%rax, %rdx
	jmp	*%rdx

	.balign	4096
first:	.rept	INSTRUCTIONS
	lea	1(%rax), %rax
	.endr
last:
	.if	last - first - 4 * INSTRUCTIONS
	.error	"an instruction has other than four bytes"
	.endif
	finish

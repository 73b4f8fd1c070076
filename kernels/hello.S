/* The loop of Safford's hello.c (5.2) as gcc -O0 compiles it: the sum and the index are in memory. */
#include "start.h"

	start
	lea	-64(%rsp), %rdi
	movl	$0, (%rdi)		/* i = 0 */
	movl	$0, 4(%rdi)		/* x = 0 */
1:	addl	$1, 4(%rdi)		/* x++ */
	addl	$1, (%rdi)		/* i++ */
	cmp	%ebx, (%rdi)
	jl	1b
	finish

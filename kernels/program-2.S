/* Safford's second program (5.5.2): n times an increment of a word in memory that is not aligned; n up to 100. */
#include "start.h"

	start
	cmp	$100, N
	ja	start_usage
	push	%rbp
	mov	%rsp, %rbp
	sub	$1024, %rsp
	xor	%edx, %edx
1:	incl	-511(%rbp,%rdx,4)
	inc	%edx
	cmp	%ebx, %edx
	jl	1b
	leave
	finish

/* n times: sleeps for a millisecond. Each time the thread gives up its CPU. n up to 2000. */
#include "start.h"

	start
	cmp	$2000, N
	ja	start_usage
1:	mov	$35, %eax		/* nanosleep */
	lea	while(%rip), %rdi
	xor	%esi, %esi
	syscall
	dec	N
	jnz	1b
	finish

	.data
	.balign	16
while:	.quad	0, 1000000

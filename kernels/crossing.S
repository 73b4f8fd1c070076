/* n times: loads and stores that begin 4 bytes before the end of a line (three, two) and of a page (two, one). */
#include "start.h"

	start
	lea	pages(%rip), %rdi
1:	mov	60(%rdi), %rax
	mov	60(%rdi), %rax
	mov	60(%rdi), %rax
	mov	%rax, 124(%rdi)
	mov	%rax, 124(%rdi)
	mov	4092(%rdi), %rax
	mov	4092(%rdi), %rax
	mov	%rax, 8188(%rdi)
	movzwl	1(%rdi), %eax
	movl	4093(%rdi), %eax
	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
pages:	.skip	4 * 4096

/* n times: two locked additions and an exchange, a fence of each kind, three prefetches and two stores past the caches. */
#include "start.h"

	start
	lea	word(%rip), %rdi
1:	lock addq	$1, (%rdi)
	lock addl	$1, 8(%rdi)
	xchg	%rax, (%rdi)
	lfence
	mfence
	sfence
	prefetcht0	(%rdi)
	prefetcht0	(%rdi)
	prefetcht0	(%rdi)
	movnti	%rax, 64(%rdi)
	movnti	%rax, 64(%rdi)
	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
word:	.skip	4096

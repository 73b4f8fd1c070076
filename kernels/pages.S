/* Writes once to each of n pages that were never touched, n up to 4096; huge pages are refused first. */
#include "start.h"

	start
#if defined(__x86_64__)
	cmp	$4096, N
	ja	start_usage
	mov	$157, %eax		/* prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) */
	mov	$41, %edi
	mov	$1, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	lea	area(%rip), %rdi
1:	mov	%rbx, (%rdi)
	add	$4096, %rdi
	dec	N
	jnz	1b
#else
	cmp	N, #4096
	b.hi	start_usage
	mov	x8, #167		/* prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) */
	mov	x0, #41
	mov	x1, #1
	mov	x2, #0
	mov	x3, #0
	mov	x4, #0
	svc	#0
	adrp	x1, area
1:	str	N, [x1]
	add	x1, x1, #4096
	subs	N, N, #1
	b.ne	1b
#endif
	finish

	.bss
	.balign	4096
area:	.skip	4096 * 4096

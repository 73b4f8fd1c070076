/* Two threads that take turns on n lines, and never run at the same time: a pipe hands the turn over. The first one reads a
 * word of each line, the second one writes another word of each, the first one reads its words again (false sharing) and writes
 * them, and the second one reads those (true sharing). After Zagha, 4.3, but so that no count depends on when which thread
 * runs: n up to 60, which fit into every cache. */
#include "start.h"

#define APART 128			/* no machine's lines are longer */
#define LINES_MOST 60

.macro give descriptor
	mov	\descriptor, %edi
	lea	token(%rip), %rsi
	mov	$1, %edx
	mov	$1, %eax		/* write */
	syscall
.endm
.macro take descriptor
	mov	\descriptor, %edi
	lea	token(%rip), %rsi
	mov	$1, %edx
	xor	%eax, %eax		/* read */
	syscall
.endm
/* one access to each line; the counter is in ebp */
.macro each instruction:vararg
	lea	lines(%rip), %r8
	mov	%ebx, %ebp
5:	\instruction
	add	$APART, %r8
	dec	%ebp
	jnz	5b
.endm

	start
	cmp	$LINES_MOST, N
	ja	start_usage
	lea	first(%rip), %rdi
	mov	$22, %eax		/* pipe */
	syscall
	lea	second(%rip), %rdi
	mov	$22, %eax
	syscall
	mov	first(%rip), %r12d	/* the second thread reads, the first one writes */
	mov	first+4(%rip), %r13d
	mov	second(%rip), %r14d	/* the other way round */
	mov	second+4(%rip), %r15d
	mov	$56, %eax		/* clone: a thread of this process */
	mov	$0x50f00, %edi		/* CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM */
	lea	stack_end(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jz	child

	each	mov (%r8), %eax
	give	%r13d
	take	%r14d
	each	mov (%r8), %eax
	each	mov %eax, (%r8)
	give	%r13d
	take	%r14d
	finish

child:	take	%r12d
	each	mov %eax, 4(%r8)
	give	%r15d
	take	%r12d
	each	mov (%r8), %eax
	give	%r15d
	finish

	.bss
	.balign	4096
first:	.skip	8
second:	.skip	8
token:	.skip	4080
lines:	.skip	LINES_MOST * APART
	.balign	4096
	.skip	4096
stack_end:

/* One thread ends the process while another one runs: how is the first argument's first letter. Descriptor 3 is a file of a page, mapped
 * shared, in which each block that the other thread executes counts itself with its first instruction. The other thread takes no signal:
 * it ends between two blocks, so that the file says how many instructions it has executed:
 *     3 × [0] + 5 × [8] + 3 × [16] + 6 × [24] + 2 × [32]
 * and the first one 3 × [64] and what it executes once (ends/run).
 */
	.globl _start, other, other_end
_start:	mov	16(%rsp), %rbx		/* argv[1] */
	mov	8(%rsp), %r15
	movzbl	(%rbx), %ebx
	mov	$9, %eax		/* mmap(0, 4096, read and write, shared, 3, 0) */
	xor	%edi, %edi
	mov	$4096, %esi
	mov	$3, %edx
	mov	$1, %r10d
	mov	$3, %r8d
	xor	%r9d, %r9d
	syscall
	mov	%rax, %r12
	mov	$56, %eax		/* clone(VM, FS, FILES, SIGHAND, THREAD, SYSVSEM) */
	mov	$0x50f00, %edi
	lea	stack_end(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jz	other
1:	incq	64(%r12)
	cmpq	$20000, (%r12)
	jb	1b
	cmp	$'g', %ebx
	je	group
	cmp	$'s', %ebx
	je	signal
	cmp	$'f', %ebx
	je	fault
	cmp	$'e', %ebx
	je	execute
	cmp	$'k', %ebx
	je	filter
	ud2				/* 'i' */
group:	mov	$231, %eax		/* exit_group(33) */
	mov	$33, %edi
	syscall
signal:	mov	$39, %eax		/* kill(getpid(), SIGTERM): this thread takes it, the other one blocks it */
	syscall
	mov	%eax, %edi
	mov	$62, %eax
	mov	$15, %esi
	syscall
fault:	mov	0, %eax
execute:
	mov	$59, %eax		/* execve of itself: group's way, with one argument less */
	mov	%r15, %rdi
	lea	arguments(%rip), %rsi
	mov	%r15, (%rsi)
	xor	%edx, %edx
	syscall
	ud2
filter:	mov	$157, %eax		/* prctl(PR_SET_NO_NEW_PRIVS, 1) */
	mov	$38, %edi
	mov	$1, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	mov	$317, %eax		/* seccomp(SECCOMP_SET_MODE_FILTER, 0, program) */
	mov	$1, %edi
	xor	%esi, %esi
	lea	program(%rip), %rdx
	syscall
	mov	$39, %eax
	syscall
	ud2

other:
1:	incq	(%r12)			/* 3 */
	testb	$3, (%r12)
	jnz	2f
	incq	8(%r12)			/* 4: this loop turns four times */
	movl	$3, 40(%r12)
	nop
	nop
	jmp	4f
4:	incq	16(%r12)		/* 3 */
	decl	40(%r12)
	jns	4b
2:	incq	24(%r12)		/* 6 */
	nop
	nop
	nop
	testb	$1, (%r12)
	jz	1b
	incq	32(%r12)		/* 2 */
	jmp	1b
other_end:
	.data
arguments:
	.quad	0, 0, 0
program:
	.quad	4, instructions
instructions:				/* getpid: SECCOMP_RET_KILL_PROCESS, else allowed */
	.quad	0x0000000000000020, 0x0000002701000015, 0x8000000000000006, 0x7fff000000000006
	.bss
	.skip	4096
stack_end:
	.section .note.GNU-stack, "", @progbits

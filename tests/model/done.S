/*
 * The programs of done_test: -DKERNEL_x chooses one. None touches its stack or any data but its array, so that
 * the data counts are the kernel's alone. The array is at a multiple of 1 MB.
 */
	.globl _start
	.text
_start:
	lea	area(%rip), %rbx
#if defined KERNEL_ARRAY	/* a[i] = a[i] + 1, N elements of 4 bytes */
	xor	%eax, %eax
1:	mov	(%rbx,%rax,4), %edx
	inc	%edx
	mov	%edx, (%rbx,%rax,4)
	inc	%rax
	cmp	$N, %rax
	jne	1b
#elif defined KERNEL_BOTTOM	/* N pixels, K x K loops tested at the bottom: 3 * 3 + 3 + 1 branches */
	mov	$N, %ecx
1:	mov	$3, %eax
2:	mov	$3, %edx
3:	dec	%edx
	jnz	3b
	dec	%eax
	jnz	2b
	dec	%ecx
	jnz	1b
#elif defined KERNEL_TOP	/* tested at the top: 3 * 4 + 4 + 1 conditional branches */
	mov	$N, %ecx
1:	mov	$3, %eax
2:	test	%eax, %eax
	jz	5f
	mov	$3, %edx
3:	test	%edx, %edx
	jz	4f
	dec	%edx
	jmp	3b
4:	dec	%eax
	jmp	2b
5:	dec	%ecx
	jnz	1b
#elif defined KERNEL_Z		/* 100^3 doubles, address 8 i + 800 j + 80000 k; j, i, k: the value before in a register */
	mov	$100, %r8d
1:	mov	$100, %r9d
2:	mov	%rbx, %rsi
	mov	(%rsi), %rax
	mov	$99, %ecx
3:	add	$80000, %rsi
	add	(%rsi), %rax
	mov	%rax, (%rsi)
	dec	%ecx
	jnz	3b
	add	$8, %rbx
	dec	%r9d
	jnz	2b
	dec	%r8d
	jnz	1b
#elif defined KERNEL_INTERCHANGED /* j, k, i: the value before is read again */
	mov	$100, %r8d
1:	mov	%rbx, %rsi
	mov	$99, %r9d
2:	mov	$100, %ecx
	mov	%rsi, %rdi
3:	mov	(%rdi), %rax
	add	80000(%rdi), %rax
	mov	%rax, 80000(%rdi)
	add	$8, %rdi
	dec	%ecx
	jnz	3b
	add	$80000, %rsi
	dec	%r9d
	jnz	2b
	add	$800, %rbx
	dec	%r8d
	jnz	1b
#elif defined KERNEL_PAGES	/* N pages of 4 KB, three times over, one load of each */
	mov	$3, %ecx
1:	mov	%rbx, %rsi
	mov	$N, %edx
2:	mov	(%rsi), %eax
	add	$4096, %rsi
	dec	%edx
	jnz	2b
	dec	%ecx
	jnz	1b
#endif
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
	.bss
	.balign	1048576
area:	.skip	8388608
	.section .note.GNU-stack, "", @progbits

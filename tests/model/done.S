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
#elif defined KERNEL_WAITS	/* N times: a jump by register, and a call from which three calls are nested: four returns */
	mov	$N, %ecx
	lea	2f(%rip), %rax
1:	jmp	*%rax
2:	call	three
	dec	%ecx
	jnz	1b
#elif defined KERNEL_SWITCHES	/* N times: a branch taken every second time, from weakly not taken: never predicted */
	mov	$N, %ecx
1:	test	$1, %cl
	jz	2f
	nop
2:	dec	%ecx
	jnz	1b
#elif defined KERNEL_P5FLOPS	/* N times: 2 integer multiplications, x87 add, multiply, divide, root, remainder: 7 */
	mov	$N, %ecx
	fld1
	fld1
1:	imul	%eax, %eax
	mul	%edx
	fadd	%st(1), %st
	fmul	%st(1), %st
	fdiv	%st(1), %st
	fsqrt
	fprem
	fscale
	fchs
	dec	%ecx
	jnz	1b
#ifdef FSIN
	fsin
#endif
#elif defined KERNEL_PLACES	/* N times: of 2 bytes at 0 to 7, of 4 at 0 to 3, of 8 at 0, 4, 7, of 10 at 0, 1, 3, 8: loads, then a string */
	mov	$N, %ecx
1:	.irp at, 0, 1, 2, 3, 4, 5, 6, 7
	movw	\at(%rbx), %ax
	.endr
	.irp at, 0, 1, 2, 3
	mov	\at(%rbx), %eax
	.endr
	.irp at, 0, 4, 7
	mov	\at(%rbx), %rax
	.endr
	.irp at, 0, 1, 3, 8
	fldt	\at(%rbx)
	fstp	%st(0)
	.endr
	mov	%ecx, %edx
	lea	1(%rbx), %rdi
	mov	$10, %ecx
	rep	stosw		/* 10 words at odd addresses: every second crosses a multiple of 4 */
	mov	%edx, %ecx
	dec	%ecx
	jnz	1b
#elif defined KERNEL_PREFETCHES	/* N times: 2 loads, 3 prefetches, a fence, a store */
	mov	$N, %ecx
1:	mov	(%rbx), %eax
	mov	64(%rbx), %edx
	prefetcht0	128(%rbx)
	prefetcht2	192(%rbx)
	prefetchnta	256(%rbx)
	mfence
	mov	%eax, 8(%rbx)
	dec	%ecx
	jnz	1b
#endif
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
#ifdef KERNEL_WAITS
three:	call	two
	ret
two:	call	one
	ret
one:	call	none
	ret
none:	ret
#endif
	.bss
	.balign	1048576
area:	.skip	8388608
	.section .note.GNU-stack, "", @progbits

/*
 * A whole static program as bytes: ELF header, one segment, code. Every count of the engine has something here that moves it; trial.c has the
 * truth of each, by the arithmetic in the margins (I: instructions). Its argument count less one is a set of groups to execute as well, those
 * of instructions that not every processor has.
 */
	.section .rodata
	.balign	64
	.globl	trial_program, trial_program_end, trial_start, trial_main_end
trial_program:
	.byte	0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
	.short	2, 62				/* ET_EXEC, EM_X86_64 */
	.long	1
	.quad	0x400000 + (trial_start - trial_program)
	.quad	64, 0				/* program headers at 64, no section headers */
	.long	0
	.short	64, 56, 1, 0, 0, 0
	/* the program header: PT_LOAD, read and execute */
	.long	1, 5
	.quad	0, 0x400000, 0x400000
	.quad	trial_program_end - trial_program, trial_program_end - trial_program, 4096
	/* no executable stack */

	/* flow: I 3 + 300 + 10 */
trial_start:
	mov	(%rsp), %r12			/* a load of 8 */
	mov	$100, %ecx
	xor	%edx, %edx
1:	inc	%edx
	dec	%ecx
	jnz	1b				/* 100 conditional, 99 taken */
	call	callee				/* a direct call: a store of 8 */
	lea	callee(%rip), %rax
	call	*%rax				/* an indirect call, likewise */
	lea	2f(%rip), %rax
	jmp	*%rax				/* an indirect jump */
callee:	nop					/* twice, as all here: 2 nops */
	ret					/* 2 returns: 2 loads of 8 */
2:	jmp	3f				/* a direct jump */

	/* integers: I 5; a line of 64 bytes below the stack, strings and other accesses: I 11 */
3:	mov	$100, %eax
	xor	%edx, %edx
	mov	$7, %ecx
	div	%ecx				/* a divide */
	imul	%ecx, %eax			/* a multiply */
	lea	-256(%rsp), %rdi
	and	$-128, %rdi			/* … never a page's last: what crosses its end crosses no page's */
	mov	%rdi, %r13
	mov	$16, %ecx
	rep	stosb				/* a string instruction: 16 iterations, 16 writes of 1 */
	mov	%r13, %rsi
	lodsb					/* another, without rep: a load of 1 */
	prefetcht0 (%r13)			/* a prefetch */
	movnti	%eax, (%r13)			/* a store of 4 past the caches */
	mfence					/* a fence */
	lock incl (%r13)			/* locked: a load and a store of 4 */

	/* floating point and vectors, of SSE2 and x87: I 12 */
	addss	%xmm0, %xmm0			/* scalar, single: 1 operation */
	addsd	%xmm0, %xmm0			/* scalar, double: 1 */
	addps	%xmm0, %xmm0			/* 128 bits, single: 4 */
	addpd	%xmm0, %xmm0			/* 128 bits, double: 2 */
	divsd	%xmm0, %xmm0			/* scalar, double: 1, a division */
	sqrtsd	%xmm0, %xmm0			/* scalar, double: 1, a square root */
	cvtss2sd %xmm0, %xmm0			/* a conversion */
	cvtsi2sd %eax, %xmm0			/* a conversion from an integer */
	paddd	%xmm0, %xmm0			/* integers in a vector */
	fld1					/* x87 */
	fadd	%st(0), %st			/* x87: 1 operation */
	fstp	%st(0)				/* x87 */

	/* what is rare: I 5 */
	mov	%ds, %eax
	mov	%eax, %ds			/* a segment register is loaded */
	rdtsc					/* a read of the time-stamp counter */
	xor	%eax, %eax
	cpuid					/* cpuid, which serialises */

	/* accesses of 4 at odd places: I 5 */
	mov	%eax, 62(%r13)			/* a store across a line's end */
	mov	62(%r13), %eax			/* a load there */
	lea	-8192(%rsp), %rsi
	and	$-4096, %rsi
	mov	%eax, -2(%rsi)			/* a store across a page's end, which is also a line's */

	/* I 1 + 8, of which 4 conditional branches that are taken where a group is left out; of each group a call and a return more */
	dec	%r12d
	test	$1, %r12b
	jz	4f
	call	trial_avx2
4:	test	$2, %r12b
	jz	5f
	call	trial_avx512
5:	test	$4, %r12b
	jz	6f
	call	trial_aes
6:	test	$8, %r12b
	jz	7f
	call	trial_bf16
	/* I 3 */
7:	mov	$60, %eax
	xor	%edi, %edi
	syscall					/* a system call */
trial_main_end:

	.globl	trial_avx2, trial_avx2_end, trial_avx512, trial_avx512_end, trial_aes, trial_aes_end, trial_bf16, trial_bf16_end
	.balign	64
trial_avx2:					/* I 13 */
	vaddps	%ymm0, %ymm0, %ymm0		/* 256 bits, single: 8 */
	vaddpd	%ymm0, %ymm0, %ymm0		/* 256 bits, double: 4 */
	vfmadd231ss %xmm0, %xmm0, %xmm0		/* fused, scalar, single: 2 */
	vfmadd231sd %xmm0, %xmm0, %xmm0		/* … double: 2 */
	vfmadd231ps %xmm0, %xmm0, %xmm0		/* 128 bits, single: 8 */
	vfmadd231pd %xmm0, %xmm0, %xmm0		/* … double: 4 */
	vfmadd231ps %ymm0, %ymm0, %ymm0		/* 256 bits, single: 16 */
	vfmadd231pd %ymm0, %ymm0, %ymm0		/* … double: 8 */
	vpcmpeqd %ymm1, %ymm1, %ymm1		/* all lanes; integers in a vector */
	vpxor	%ymm2, %ymm2, %ymm2		/* likewise */
	vgatherdps %ymm1, (%r13,%ymm2,1), %ymm3	/* a load: 8 reads of 4 */
	vzeroupper
	ret
trial_avx2_end:
	.balign	64
trial_avx512:					/* I 9 */
	vaddps	%zmm0, %zmm0, %zmm0		/* 512 bits, single: 16 */
	vaddpd	%zmm0, %zmm0, %zmm0		/* 512 bits, double: 8 */
	vfmadd231ps %zmm0, %zmm0, %zmm0		/* fused, 512 bits, single: 32 */
	vfmadd231pd %zmm0, %zmm0, %zmm0		/* … double: 16 */
	vpxord	%zmm2, %zmm2, %zmm2		/* integers in a vector */
	kxnorw	%k1, %k1, %k1			/* all lanes */
	vscatterdps %zmm0, (%r13,%zmm2,1){%k1}	/* a store: 16 writes of 4 */
	vzeroupper
	ret
trial_avx512_end:
	.balign	64
trial_aes:					/* I 2 */
	aesenc	%xmm0, %xmm0			/* a cipher's step */
	ret
trial_aes_end:
	.balign	64
trial_bf16:					/* I 3 */
	vdpbf16ps %zmm0, %zmm0, %zmm0		/* 32 products of 16-bit numbers, each added: 64 */
	vzeroupper
	ret
trial_bf16_end:
trial_program_end:
	.section .note.GNU-stack, "", @progbits

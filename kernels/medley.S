/* n times: integer arithmetic, strings, x87, vectors of 16 bytes, divisions and conversions, locked and fenced accesses, and accesses
 * across lines and pages: of each kind of instruction that every x86-64 CPU has, the number that integer.S, strings.S, x87.S, fp-128.S,
 * fp-other.S, orders.S and crossing.S have. */
#include "start.h"

	start
	lea	pages(%rip), %r8
	mov	$3, %r9d
	fninit
	pxor	%xmm0, %xmm0
	cvtsi2sd	%r9d, %xmm1
1:
	imul	%rsi, %rsi		/* integer.S */
	imul	$5, %rdi, %rdi
	mov	$100, %eax
	mul	%r9d
	div	%r9d
	mov	$7, %eax
	cltd
	idiv	%r9d
	nop
	nop
	nop
	nopw	0(%rax)
	pause

	mov	%r8, %rdi		/* strings.S */
	mov	$10, %ecx
	rep stosb
	mov	%r8, %rsi
	mov	$3, %ecx
	lea	64(%r8), %rdi
	rep movsq
	lodsb
	stosb
	scasb

	fld1				/* x87.S */
	fld1
	fldpi
	fadd	%st(1), %st
	fadd	%st(1), %st
	fadd	%st(1), %st
	fmul	%st(1), %st
	fmul	%st(1), %st
	fdiv	%st(1), %st
	fsqrt
	fstp	%st(0)
	fstp	%st(0)
	fstp	%st(0)

	addps	%xmm0, %xmm8		/* fp-128.S */
	addps	%xmm0, %xmm8
	mulps	%xmm0, %xmm9
	mulps	%xmm0, %xmm9
	mulps	%xmm0, %xmm9
	addpd	%xmm0, %xmm10
	addpd	%xmm0, %xmm10
	addpd	%xmm0, %xmm10
	mulpd	%xmm0, %xmm11

	divsd	%xmm1, %xmm12		/* fp-other.S */
	divsd	%xmm1, %xmm12
	divss	%xmm1, %xmm2
	sqrtsd	%xmm1, %xmm3
	sqrtss	%xmm1, %xmm4
	cvtsd2ss	%xmm1, %xmm5
	cvtss2sd	%xmm5, %xmm5
	cvtps2pd	%xmm5, %xmm6
	cvtpd2ps	%xmm6, %xmm6
	cvtsi2sd	%r9d, %xmm7
	cvtsi2sd	%r9d, %xmm7
	cvttsd2si	%xmm1, %ecx
	cvttsd2si	%xmm1, %ecx
	cvtdq2pd	%xmm1, %xmm7

	lock addq	$1, (%r8)	/* orders.S */
	lock addl	$1, 8(%r8)
	xchg	%rax, (%r8)
	lfence
	mfence
	sfence
	prefetcht0	(%r8)
	prefetcht0	(%r8)
	prefetcht0	(%r8)
	movnti	%rax, 64(%r8)
	movnti	%rax, 64(%r8)

	mov	60(%r8), %rax		/* crossing.S */
	mov	60(%r8), %rax
	mov	60(%r8), %rax
	mov	%rax, 124(%r8)
	mov	%rax, 124(%r8)
	mov	4092(%r8), %rax
	mov	4092(%r8), %rax
	mov	%rax, 8188(%r8)
	movzwl	1(%r8), %eax
	movl	4093(%r8), %eax

	dec	N
	jnz	1b
	finish

	.bss
	.balign	4096
pages:	.skip	4 * 4096

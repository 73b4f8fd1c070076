/* The beginning and the end that all kernels share, without libc: so that every instruction from exec to exit is known.
 *
 * `start` reads the program's one argument, a decimal number, into N (%rbx, x19) and ends the program with status 2 when
 * there is none or it is 0. `finish` is exit(0).
 *
 *                      x86-64              aarch64
 *     start            9 + 7 digits        7 + 6 digits       instructions
 *       loads          2 + digits          2 + digits         argv[1], its digits, its NUL
 *       conditional    3 + digits          3 + digits         branches; 1 of them taken (at the NUL)
 *       jumps          digits              digits
 *     finish           3                   3                  instructions, one of them a system call
 *
 * With KERNEL_REGION the same kernel is a function instead, which a program with libc calls: start_region.h. What
 * `start` and `finish` count either way is in start.truth.
 *
 * digits: those of the argument as given. A number with other characters is not refused, and means nothing. */
#ifndef TARE_KERNELS_START_H
#define TARE_KERNELS_START_H

#if defined(__x86_64__)
#define N %rbx
#elif defined(__aarch64__)
#define N x19
#else
#error "no kernels for this processor"
#endif

#if defined(KERNEL_REGION)
#include "start_region.h"
#elif defined(__x86_64__)

.macro start
	.globl _start
	.text
_start:
	mov	16(%rsp), %rsi		/* argv[1] */
	xor	%ebx, %ebx
	test	%rsi, %rsi
	jz	start_usage
start_digit:
	movzbl	(%rsi), %eax
	sub	$48, %eax
	jb	start_read		/* the NUL */
	lea	(%rbx,%rbx,4), %rbx
	lea	(%rax,%rbx,2), %rbx
	inc	%rsi
	jmp	start_digit
start_usage:
	mov	$60, %eax
	mov	$2, %edi
	syscall
start_read:
	test	%rbx, %rbx
	jz	start_usage
.endm

.macro finish
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
.endm

#elif defined(__aarch64__)

.macro start
	.globl _start
	.text
_start:
	ldr	x1, [sp, #16]		/* argv[1] */
	mov	x19, #0
	cbz	x1, start_usage
start_digit:
	ldrb	w2, [x1], #1
	subs	w2, w2, #48
	b.lo	start_read		/* the NUL */
	add	x19, x19, x19, lsl #2
	add	x19, x2, x19, lsl #1
	b	start_digit
start_usage:
	mov	x8, #93
	mov	x0, #2
	svc	#0
start_read:
	cbz	x19, start_usage
.endm

.macro finish
	mov	x8, #93			/* exit */
	mov	x0, #0
	svc	#0
.endm

#endif

.section .note.GNU-stack, "", %progbits

#endif

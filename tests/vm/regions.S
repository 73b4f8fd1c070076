/* Functions of known instructions for region_test.c, which names the lines of the loop in region_lines: keep them where they are. */
#if defined(__aarch64__)
#define TYPE(name) .type name, %function
#define N x0
#define COPY mov x1, x0
#define DECREMENT subs x0, x0, 1
#define AGAIN b.ne 1b
#define BRANCH b 1f
#define ENTER stp x29, x30, [sp, -16]!
#define LEAVE ldp x29, x30, [sp], 16
#else
#define TYPE(name) .type name, @function
#define N %rdi
#define COPY mov %rdi, %rax
#define DECREMENT dec %rdi
#define AGAIN jnz 1b
#define BRANCH jmp 1f
#define ENTER push %rbp
#define LEAVE pop %rbp
#endif
	.text
	.globl region_work, region_nop, region_frame, region_branch, region_lines, region_outer, region_recurse
/* 2 + 2n */
TYPE(region_work)
region_work:
	COPY
1:	DECREMENT
	AGAIN
	ret
	.size region_work, . - region_work
/* 2 + 2n */
TYPE(region_nop)
region_nop:
	nop
1:	DECREMENT
	AGAIN
	ret
	.size region_nop, . - region_nop
/* 3 + 2n */
TYPE(region_frame)
region_frame:
	ENTER
1:	DECREMENT
	AGAIN
	LEAVE
	ret
	.size region_frame, . - region_frame
/* 2 + 2n */
TYPE(region_branch)
region_branch:
	BRANCH
1:	DECREMENT
	AGAIN
	ret
	.size region_branch, . - region_branch
/* 3 + 2n, of which 2n are lines 60 and 61 */
TYPE(region_lines)
region_lines:
	COPY
1:	DECREMENT
	AGAIN
	COPY
	ret
	.size region_lines, . - region_lines
#if defined(__aarch64__)
/* 7 + (2 + 2n) + (2 + 2n) */
TYPE(region_outer)
region_outer:
	stp x19, x30, [sp, -16]!
	mov x19, x0
	bl region_work
	mov x0, x19
	bl region_nop
	ldp x19, x30, [sp], 16
	ret
	.size region_outer, . - region_outer
/* (n, depth): each level 12 + (2 + 2n), the deepest 9 + (2 + 2n) */
TYPE(region_recurse)
region_recurse:
	stp x19, x30, [sp, -32]!
	str x20, [sp, 16]
	mov x19, x0
	mov x20, x1
	bl region_work
	cbz x20, 1f
	mov x0, x19
	sub x1, x20, 1
	bl region_recurse
1:	ldr x20, [sp, 16]
	ldp x19, x30, [sp], 32
	ret
	.size region_recurse, . - region_recurse
#else
/* 7 + (2 + 2n) + (2 + 2n) */
TYPE(region_outer)
region_outer:
	push %rbx
	mov %rdi, %rbx
	call region_work
	mov %rbx, %rdi
	call region_nop
	pop %rbx
	ret
	.size region_outer, . - region_outer
/* (n, depth): each level 13 + (2 + 2n), the deepest 10 + (2 + 2n) */
TYPE(region_recurse)
region_recurse:
	push %rbx
	push %rbp
	mov %rdi, %rbx
	mov %rsi, %rbp
	call region_work
	test %rbp, %rbp
	jz 1f
	mov %rbx, %rdi
	lea -1(%rbp), %rsi
	call region_recurse
1:	pop %rbp
	pop %rbx
	ret
	.size region_recurse, . - region_recurse
#endif
	.section .note.GNU-stack, "", %progbits

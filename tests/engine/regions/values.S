/* A region whose last block touches memory by every kind of value in front of the call that leaves, which reads its target by two registers:
   a line of its own each time, misaligned. NOPS: the same without an engine that knows of regions: the functions return themselves. */
	.globl _start
	.macro magic code
	.byte 0x66, 0x0f, 0x1f, 0x84, 0
#ifdef NOPS
	.long 0x12345678
#else
	.long \code
#endif
	.endm
	.text
_start:	xor %r12d, %r12d
	lea lines(%rip), %r13
1:	lea of_values(%rip), %rdi
	call enter
	mov %r12, %rax          /* in */
	shl $7, %rax
	mov 3(%r13,%rax), %rcx  /* two registers, then moved ones */
	lea 64(%r13,%rax), %rdx
	movl $7, 5(%rdx)
	add $200000, %rdx
	mov %ecx, 1(%rdx)
	push %rcx
	pop %rax
	movups 262144(%rdx), %xmm0
	mov %r12, %rax
	and $7, %eax
	lea pointers-8(%rip), %rbx
	lea of_values(%rip), %rdi
	call *8(%rbx,%rax,8)
	inc %r12d
	cmp $1000, %r12d
	jne 1b
	mov $231, %eax
	xor %edi, %edi
	syscall

enter:	magic 0x54415202
	ret
leave:	magic 0x54415203
	ret

	.data
	.balign 4096
	.fill 3
pointers:
	.rept 8
	.quad leave
	.endr
of_values:
	.quad 9f
9:	.asciz "values"
	.bss
	.balign 4096
lines:	.fill 1048576

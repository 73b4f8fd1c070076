/*
 * What cachegrind counts otherwise, each a known number of times: 100 read-modify-writes of one line; rep movs,
 * stos and cmps of 1000 bytes each (not lods: valgrind 3.19 leaves out its rep); 50 reads that cross from one line
 * never seen into another; a locked exchange-add; a bit test in memory.
 */
	.globl _start
	.text
_start:
	mov	16(%rsp), %rsi
	/* 100 read-modify-writes */
	lea	counter(%rip), %rdi
	mov	$100, %ecx
1:	incl	(%rdi)
	dec	%ecx
	jnz	1b
	/* 10 locked, 10 bit tests of a word 4 lines on */
	mov	$10, %ecx
2:	mov	$1, %eax
	lock xaddl %eax, 64(%rdi)
	mov	$2048, %edx
	bt	%rdx, (%rdi)
	dec	%ecx
	jnz	2b
	/* strings: 1000, 125 and 1000 iterations */
	cld
	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	mov	$1000, %ecx
	rep movsb
	lea	to(%rip), %rdi
	mov	$125, %ecx
	rep stosq
	lea	zeros(%rip), %rsi
	lea	zeros+1024(%rip), %rdi
	mov	$1000, %ecx
	repe cmpsb
	/* 50 reads across lines, both never seen */
	lea	across+60(%rip), %rdi
	mov	$50, %ecx
3:	mov	(%rdi), %rax
	add	$128, %rdi
	dec	%ecx
	jnz	3b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.bss
	.balign	4096
counter:
	.skip	1024
from:	.skip	1024
to:	.skip	1024
zeros:	.skip	2048
	.balign	4096
across:	.skip	8192
	.section .note.GNU-stack, "", @progbits

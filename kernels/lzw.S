/* Codes a text of one letter by a table of the strings that were seen (LZW, compress; Safford, 5.7), up to its n-th code: the k-th stands for k
 * letters. The table is a tree: entry 2 * string + letter is the string with that letter behind it, 0 is none. */
#include "start.h"

	start
	cmp	$10000, N
	ja	start_usage
	lea	letter(%rip), %rsi
	lea	table(%rip), %rdi
	lea	codes(%rip), %r8
	mov	$1, %edx		/* the string so far: one letter */
	mov	$2, %r9d		/* the next string's number */
1:	movzbl	(%rsi), %eax
	sub	$97, %eax
	lea	(%rax,%rdx,2), %rax
	mov	(%rdi,%rax,4), %ecx
	test	%ecx, %ecx
	jz	2f
	mov	%ecx, %edx
	jmp	1b
2:	mov	%r9d, (%rdi,%rax,4)
	mov	%edx, (%r8)
	add	$4, %r8
	inc	%r9d
	mov	$1, %edx
	dec	N
	jnz	1b
	finish

	.section .rodata
letter:	.byte	97
	.bss
	.balign	64
table:	.skip	2 * 4 * 10002
codes:	.skip	4 * 10000

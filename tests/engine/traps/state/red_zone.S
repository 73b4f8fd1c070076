# fact: data below rsp (the red zone) survives block exits, faults of translation and system calls
	.text
	.globl _start
_start:	xor	%r12d, %r12d
	mov	$2000, %r13d
1:	lea	-8(%rsp), %rdi			# 128 bytes below rsp get a pattern
	mov	$16, %ecx
	lea	(%r13,%r13,2), %rax
2:	mov	%rax, (%rdi)
	sub	$8, %rdi
	inc	%rax
	loop	2b
	jmp	3f
	ud2
3:	lea	4f(%rip), %rdx
	jmp	*%rdx				# an indirect jump: lookups must not spill below rsp
	ud2
4:	mov	$39, %eax			# getpid
	syscall
	cmp	%r13, %r13
	jne	bad
	lea	-8(%rsp), %rdi
	mov	$16, %ecx
	lea	(%r13,%r13,2), %rax
5:	cmp	%rax, (%rdi)
	jne	bad
	sub	$8, %rdi
	inc	%rax
	loop	5b
	dec	%r13d
	jnz	1b
	mov	$1, %eax
	mov	$1, %edi
	lea	good(%rip), %rsi
	mov	$29, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
bad:	mov	$60, %eax
	mov	$1, %edi
	syscall
good:	.ascii	"yes the red zone is the same\n"

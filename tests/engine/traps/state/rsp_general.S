# fact: rsp used as a general register, and as 0, holds any value over every kind of exit that does not use it
# Sums 1 to 1000 in rsp, walks a list with it, multiplies; jumps direct, conditional and indirect; system calls with rsp = 0.
	.text
	.globl _start
_start:	mov	%rsp, saved(%rip)
	mov	$200, %r15d
again:	xor	%esp, %esp
	mov	$1000, %ecx
1:	add	%rcx, %rsp			# rsp is a sum
	dec	%ecx
	jnz	1b
	cmp	$500500, %rsp
	jne	bad
	lea	2f(%rip), %rax
	jmp	*%rax
	ud2
2:	imul	$-7, %rsp, %rsp
	jmp	*table(%rip)
	ud2
3:	cmp	$-3503500, %rsp
	jne	bad
	lea	list(%rip), %rsp		# rsp walks a list
	xor	%ebx, %ebx
4:	add	8(%rsp), %rbx
	mov	(%rsp), %rsp
	test	%rsp, %rsp
	jnz	4b
	cmp	$111, %rbx			# rsp is 0 here
	jne	bad
	mov	$39, %eax			# getpid with rsp = 0
	syscall
	test	%rsp, %rsp
	jnz	bad
	mov	$24, %eax			# sched_yield with rsp = -1
	dec	%rsp
	syscall
	cmp	$-1, %rsp
	jne	bad
	mov	$0x0123456789abcdef, %rsp	# not canonical
	lea	5f(%rip), %rdx
	jmp	*%rdx
	ud2
5:	mov	$39, %eax
	syscall
	mov	%rsp, %rbx
	xor	%esp, %esp
	mov	$0x0123456789abcdef, %rcx
	cmp	%rcx, %rbx
	jne	bad
	dec	%r15d
	jnz	again
	mov	saved(%rip), %rsp
	call	6f				# the stack works again
	mov	$1, %eax
	mov	$1, %edi
	lea	good(%rip), %rsi
	mov	$34, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
6:	ret
bad:	mov	$60, %eax
	mov	$1, %edi
	syscall
	.data
saved:	.quad	0
table:	.quad	3b
list:	.quad	item2, 1
item2:	.quad	item3, 10
item3:	.quad	0, 100
good:	.ascii	"yes rsp is a register like others\n"

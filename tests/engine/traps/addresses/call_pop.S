# fact: call/pop gives the address after the call, push/ret jumps, and a changed return address is obeyed
	.text
	.globl _start
_start:	mov	$1000, %r12d
1:	call	2f				# the getpc idiom
2:	pop	%rax
	lea	2b(%rip), %rbx
	cmp	%rax, %rbx
	jne	bad
	call	3f				# over data that follows the call
	.ascii	"data!"
3:	pop	%rsi
	cmpb	$'d', (%rsi)
	jne	bad
	lea	4f(%rip), %rax			# push and ret
	push	%rax
	ret
	ud2
4:	call	skip3				# the callee skips three bytes
	ud2
	nop
	call	replaced			# the callee replaces its return address
	ud2
5:	call	twice				# returns two levels up
	ud2
6:	mov	%rsp, %r13
	push	$0
	movq	$table, %rdx
	pop	%rcx
	pushq	8(%rdx)				# an address from memory
	retq
	ud2
7:	mov	$1, %ecx			# coroutines: switch stacks and ret
	lea	stack_end(%rip), %rbp
	lea	coroutine(%rip), %rax
	mov	%rax, -8(%rbp)
	sub	$8, %rbp
	mov	$10, %r14d
8:	call	switch
	dec	%r14d
	jnz	8b
	cmp	$21, %ecx
	jne	bad
	dec	%r12d
	jnz	1b
	mov	$1, %eax
	mov	$1, %edi
	lea	good(%rip), %rsi
	mov	$28, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
skip3:	addq	$3, (%rsp)
	ret
replaced: lea	5b(%rip), %rax
	mov	%rax, (%rsp)
	ret
twice:	call	inner
	ud2
inner:	add	$8, %rsp
	lea	6b(%rip), %rax
	mov	%rax, (%rsp)
	ret
switch:	xchg	%rsp, %rbp			# to the other stack
	ret
coroutine:
	add	$2, %ecx
	call	switch
	jmp	coroutine
bad:	mov	$60, %eax
	mov	$1, %edi
	syscall
	.data
table:	.quad	0, 7b
good:	.ascii	"yes every return went right\n"
	.bss
	.space	4096
stack_end: .space 8

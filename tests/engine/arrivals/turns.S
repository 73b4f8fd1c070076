/*
 * turns N (three digits): writes its process's number, reads a byte, then takes N turns. Each begins by asking for its parent. Then it goes through
 * `work`, which a conditional branch leaves; it comes back by a jump, and is left for good by a branch that is a block of its own.
 * Instructions: _start 48 + 5 N, work 15 N, work_cold 3 N, tail 2 N; of each SIGUSR1: handler 2, restorer 2.
 */
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm
	.text
	function work
	mov $3, %ecx
1:	dec %ecx
	jz work_cold            # the third time
	nop
	jmp 1b
2:	nop
	test %ecx, %ecx
	jmp 3f
3:	jz tail
	ud2
	end work
	function work_cold
	nop
	jnz 1f
	jmp 2b
1:	ud2
	end work_cold
	function tail
	nop
	ret
	end tail
	function handler
	nop
	ret
	end handler
	function restorer
	mov $15, %eax           # rt_sigreturn
	syscall
	end restorer
	function _start
	mov 16(%rsp), %rdi
	xor %ebx, %ebx
1:	movzbl (%rdi), %eax
	test %eax, %eax
	jz 2f
	imul $10, %ebx, %ebx
	lea -48(%rbx,%rax), %ebx
	inc %rdi
	jmp 1b
2:	mov $13, %eax           # rt_sigaction
	mov $10, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	mov $39, %eax           # getpid
	syscall
	mov %eax, word(%rip)
	mov $1, %eax            # write
	mov $1, %edi
	lea word(%rip), %rsi
	mov $4, %edx
	syscall
	xor %eax, %eax          # read
	xor %edi, %edi
	lea word(%rip), %rsi
	mov $1, %edx
	syscall
3:	mov $110, %eax          # getppid
	syscall
	call work
	dec %ebx
	jnz 3b
	mov $231, %eax          # exit_group
	xor %edi, %edi
	syscall
	end _start
	.data
	.balign 8
word:	.quad 0
action:	.quad handler, 0x04000000, restorer, 0
	.section .note.GNU-stack, "", @progbits

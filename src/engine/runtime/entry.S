/*
 * Crossing between the application's state and the runtime's.
 *
 * What always holds: gs points at the thread page (struct thread in runtime.c, whose offsets these are); nothing is
 * written below the application's stack pointer; the application's flags and 16 registers are kept whole.
 */
#define SPILL_RAX %gs:0x08
#define SPILL_RCX %gs:0x10
#define SPILL_RDX %gs:0x18
#define TARGET %gs:0x28
#define EXIT_ID %gs:0x30
#define TABLE %gs:0x38
#define RUNTIME_RSP %gs:0x40
#define REG(n) %gs:(0x50 + 8 * n)
#define FLAGS %gs:0xd0
#define RESUME %gs:0xd8

	.section .text.start, "ax"
	.globl runtime_start
	/* The host enters here with rdi = struct start, rsp = the runtime's stack. */
runtime_start:
	call runtime_init
	jmp resume

	.text
	.globl runtime_exit
	/* A block's exit: eax is the exit's number, the application's rax is spilled. */
runtime_exit:
	mov %eax, EXIT_ID
	mov SPILL_RAX, %rax
	mov %rax, REG(0)
	mov %rcx, REG(1)
	mov %rdx, REG(2)
	mov %rbx, REG(3)
	mov %rsp, REG(4)
	mov %rbp, REG(5)
	mov %rsi, REG(6)
	mov %rdi, REG(7)
	mov %r8, REG(8)
	mov %r9, REG(9)
	mov %r10, REG(10)
	mov %r11, REG(11)
	mov %r12, REG(12)
	mov %r13, REG(13)
	mov %r14, REG(14)
	mov %r15, REG(15)
	mov RUNTIME_RSP, %rsp
	pushfq
	popq FLAGS
	cld
	mov %gs:0, %rdi
	call runtime_dispatch
resume:
	mov %rax, RESUME
	mov RUNTIME_RSP, %rsp
	pushq FLAGS
	popfq
	mov REG(0), %rax
	mov REG(1), %rcx
	mov REG(2), %rdx
	mov REG(3), %rbx
	mov REG(5), %rbp
	mov REG(6), %rsi
	mov REG(7), %rdi
	mov REG(8), %r8
	mov REG(9), %r9
	mov REG(10), %r10
	mov REG(11), %r11
	mov REG(12), %r12
	mov REG(13), %r13
	mov REG(14), %r14
	mov REG(15), %r15
	mov REG(4), %rsp
	jmp *RESUME

	.globl runtime_lookup
	/* An indirect branch: rcx is the target, the application's rcx is spilled. */
runtime_lookup:
	mov %rax, SPILL_RAX
	mov %rdx, SPILL_RDX
	lahf
	seto %al
	mov %ecx, %edx
	and $0xffff, %edx
	shl $4, %edx
	add TABLE, %rdx
	cmp %rcx, (%rdx)
	jne 1f
	mov 8(%rdx), %rdx
	mov %rdx, TARGET
	add $127, %al
	sahf
	mov SPILL_RAX, %rax
	mov SPILL_RCX, %rcx
	mov SPILL_RDX, %rdx
	jmp *TARGET
1:	mov %rcx, TARGET
	add $127, %al
	sahf
	mov SPILL_RCX, %rcx
	mov SPILL_RDX, %rdx
	mov $0, %eax
	jmp runtime_exit
	.section .note.GNU-stack, "", @progbits

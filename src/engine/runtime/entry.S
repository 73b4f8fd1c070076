/*
 * Crossing between the program's state and the runtime's.
 *
 * What always holds: gs is struct thread (offsets.h is made of offsets.c by build.sh); nothing is written below the program's stack pointer;
 * its flags and 16 registers are kept whole, its vector registers are not touched. The labels are boundaries that
 * os/signal_arrival.c compares a signal's rip with.
 */
#define SELF %gs:THREAD_SELF
#define SPILL_RAX %gs:THREAD_SPILL_RAX
#define SPILL_RCX %gs:THREAD_SPILL_RCX
#define SPILL_RDX %gs:THREAD_SPILL_RDX
#define TARGET %gs:THREAD_TARGET
#define EXIT_ID %gs:THREAD_EXIT_ID
#define RUNTIME_RSP %gs:THREAD_RUNTIME_RSP
#define REG(n) %gs:(THREAD_REG + 8 * n)
#define FLAGS %gs:THREAD_FLAGS
#define RESUME %gs:THREAD_RESUME
#define ATTENTION %gs:THREAD_ATTENTION
#define WHERE %gs:THREAD_WHERE
#define SECOND %gs:THREAD_SECOND_TABLE
#define SECOND_MASK %gs:THREAD_SECOND_MASK
#define MISSES %gs:THREAD_MISSES_LEFT
#define REGION_LOW %gs:THREAD_REGION_LOW
#define REGION_SPAN %gs:THREAD_REGION_SPAN
#define REGION_KEY %gs:THREAD_REGION_KEY
#define REGION_TABLE %gs:THREAD_REGION_TABLE
#define REGION_SALT %gs:THREAD_REGION_SALT

/* All registers but the stack pointer. */
.macro keep_most
	mov %rax, REG(0)
	mov %rcx, REG(1)
	mov %rdx, REG(2)
	mov %rbx, REG(3)
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
.endm

.macro give_back_most
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
.endm

/* All registers are the program's: they are kept, and the runtime's stack is taken. */
.macro keep_registers
	keep_most
	mov %rsp, REG(4)
	mov RUNTIME_RSP, %rsp
	pushfq
	popq FLAGS
.endm

	.section .text.start, "ax"
	.globl runtime_start
	/* The host enters here with rdi = struct start, on the runtime's stack. */
runtime_start:
	cld
	call runtime_init
	mov RUNTIME_RSP, %rsp
	jmp again
	/* for the host: how many of the image's bytes are not only zeros (wire/start.h) */
	.org runtime_start + START_FILLED_AT
	.quad runtime_filled - runtime_start

	.text
	.globl runtime_miss, runtime_exit, runtime_exit_saved
	.globl runtime_miss_check, runtime_miss_found, runtime_miss_slow, runtime_miss_jump
	/* An indirect branch whose target is not in the site's table: rcx is the target, rax and rcx are spilled. A second table
	   has more of them; flags are in ah and al meanwhile. From runtime_miss_check on a signal continues in the slow part, which is the
	   same instructions (os/signal_arrival.c). */
runtime_miss:
	mov %rcx, TARGET
	mov %rdx, SPILL_RDX
	lahf
	seto %al
	mov %ecx, %edx
	imul $0x9e3779b1, %edx, %edx
	shr $14, %edx
	and SECOND_MASK, %edx
	shl $4, %rdx
	add SECOND, %rdx
	cmp %rcx, (%rdx)
	jne runtime_miss_slow
	mov 8(%rdx), %rdx
	mov %rdx, RESUME
	cmpl $0, ATTENTION
	jne runtime_miss_slow
	decl MISSES /* now and then by the slow way, which gives it the tables' slots: what is often missed gets them */
	jz runtime_miss_slow
runtime_miss_found:
	add $127, %al
	sahf
	mov SPILL_RDX, %rdx
runtime_miss_jump:
	jmp *RESUME
runtime_miss_slow:
	add $127, %al
	sahf
	mov SPILL_RDX, %rdx
	.globl runtime_miss_tail
runtime_miss_tail:
	mov SPILL_RAX, %rax
	mov SPILL_RCX, %rcx
	movl $0, EXIT_ID
	/* An exit: its number is stored, all registers are the program's. */
runtime_exit:
	keep_registers
	cld
	testl $FLAGS_AC_TF, FLAGS /* AC, TF: not for the engine's own code */
	jz runtime_exit_saved
	pushq $0x202
	popfq
runtime_exit_saved:
	mov SELF, %rdi
	call runtime_dispatch
resume:
	mov $1, %eax
	xchg %eax, WHERE /* a fence: the stopper writes attention, then reads where */
	cmpl $0, ATTENTION
	jne 1f
	.globl runtime_resume_checked, runtime_resume_end, runtime_recovered
runtime_resume_checked:
	mov RUNTIME_RSP, %rsp
	pushq FLAGS
	popfq
	give_back_most
	mov REG(4), %rsp
	jmp *RESUME
runtime_resume_end:
	/* A signal's arrival sends the thread here. */
runtime_recovered:
1:
again:
	mov SELF, %rdi
	call runtime_again
	jmp resume

	/* As runtime_miss, in a context of regions: the one way of all indirect branches there. By the slow way, too, goes what leaves the
	   innermost frame (region/enter_leave.c). The entry that is found compares address and context again, in rcx. */
	.globl runtime_region_miss, runtime_region_found, runtime_region_jump, runtime_region_slow
runtime_region_miss:
	mov %rcx, TARGET
	mov %rdx, SPILL_RDX
	lahf
	seto %al
	mov %rsp, %rdx
	sub REGION_LOW, %rdx
	cmp REGION_SPAN, %rdx
	ja runtime_region_slow
	mov %ecx, %edx
	xor REGION_SALT, %edx
	imul $0x9e3779b1, %edx, %edx
	shr $14, %edx
	shl $4, %rdx
	add REGION_TABLE, %rdx
	xor REGION_KEY, %rcx
	cmp %rcx, (%rdx)
	jne runtime_region_slow
	mov 8(%rdx), %rdx
	mov %rdx, RESUME
	cmpl $0, ATTENTION
	jne runtime_region_slow
runtime_region_found:
	add $127, %al
	sahf
	mov SPILL_RDX, %rdx
runtime_region_jump:
	jmp *RESUME
runtime_region_slow:
	add $127, %al
	sahf
	mov SPILL_RDX, %rdx
	jmp runtime_miss_tail

	/* Called by a stub, for what an inline check did not find (inline/out.c): on the runtime's stack, with any flags. It goes back with the
	   registers that REG has then, unless there is attention to be paid: then the block is left there. Careful: flags that are not for the
	   engine's own code may be set, which are not asked for else (inline_careful()). */
	.globl runtime_inline, runtime_inline_careful, runtime_inline_checked, runtime_inline_end, runtime_inline_leave
runtime_inline_careful:
	keep_most
	pushfq
	testl $FLAGS_AC_DF_TF, (%rsp) /* AC, DF, TF */
	jz 1f
	pushq $0x202
	popfq
	jmp 1f
runtime_inline:
	keep_most
	pushq $0x202
1:	mov SELF, %rdi
	mov 8(%rsp), %rsi
	call runtime_inline_call
	cmpl $0, ATTENTION
	jne runtime_inline_leave
runtime_inline_checked:
	testl $FLAGS_AC_DF_TF, (%rsp)
	jz 2f
	pushq (%rsp)
	popfq
2:	give_back_most
	lea 8(%rsp), %rsp
	ret
runtime_inline_end:
runtime_inline_leave:
	mov SELF, %rdi
	call runtime_inline_left
	test %al, %al
	jz runtime_inline_checked
	mov RUNTIME_RSP, %rsp
	jmp again

	.globl runtime_signal_entry, runtime_restorer
runtime_signal_entry:
	sub $8, %rsp
	call runtime_signal
	add $8, %rsp
	ret
runtime_restorer:
	mov $CALL_RT_SIGRETURN, %eax
	syscall

	/* long runtime_app_syscall(long nr, const uint64_t args[6]) */
	.globl runtime_app_syscall, runtime_syscall_begin, runtime_syscall_insn, runtime_syscall_end, runtime_syscall_abort
runtime_app_syscall:
	mov %rdi, %rax
	mov %rsi, %r11
	mov 0(%r11), %rdi
	mov 8(%r11), %rsi
	mov 16(%r11), %rdx
	mov 24(%r11), %r10
	mov 32(%r11), %r8
	mov 40(%r11), %r9
	xor %ecx, %ecx
runtime_syscall_begin:
	testl $1, ATTENTION
	jne runtime_syscall_abort
runtime_syscall_insn:
	syscall
runtime_syscall_end:
	ret
runtime_syscall_abort:
	mov $CALL_ABORTED, %rax
	ret

	/* long runtime_program_call(long nr, const uint64_t args[6]): the same for a call that the engine makes for the program, signals or not.
	   A seccomp filter of the program's sees both, and no other call of the engine's: os/seccomp.c */
	.globl runtime_program_call, runtime_program_end
runtime_program_call:
	mov %rdi, %rax
	mov %rsi, %r11
	mov 0(%r11), %rdi
	mov 8(%r11), %rsi
	mov 16(%r11), %rdx
	mov 24(%r11), %r10
	mov 32(%r11), %r8
	mov 40(%r11), %r9
	syscall
runtime_program_end:
	ret

	/* long runtime_app_int80(const uint64_t reg[16]) */
	.globl runtime_app_int80, runtime_int80_end
runtime_app_int80:
	push %rbx
	push %rbp
	mov %rdi, %r11
	mov 0(%r11), %rax
	mov 8(%r11), %rcx
	mov 16(%r11), %rdx
	mov 24(%r11), %rbx
	mov 40(%r11), %rbp
	mov 48(%r11), %rsi
	mov 56(%r11), %rdi
	int $0x80
runtime_int80_end:
	pop %rbp
	pop %rbx
	ret

	/* long runtime_clone(long nr, const uint64_t args[6], struct thread *child): the child runs on its own runtime stack,
	   which args name; it comes out in runtime_clone_child */
	.globl runtime_clone, runtime_clone_end
runtime_clone:
	push %rbx
	mov %rdi, %rax
	mov %rdx, %rbx
	mov %rsi, %r11
	mov 0(%r11), %rdi
	mov 8(%r11), %rsi
	mov 16(%r11), %rdx
	mov 24(%r11), %r10
	mov 32(%r11), %r8
	mov 40(%r11), %r9
	syscall
runtime_clone_end:
	test %rax, %rax
	jz 1f
	pop %rbx
	ret
1:	mov %rbx, %rdi
	call runtime_clone_start
	jmp again

	/* void runtime_final_exit(uint32_t *slot_state, long status): gives the slot back, then uses no memory */
	.globl runtime_final_exit, runtime_final_end
runtime_final_exit:
	mov %rsi, %r8
	mov $CALL_EXIT, %eax
	xchg %rdi, %r8
	movl $0, (%r8)
	syscall
runtime_final_end:
	hlt

	/* void processor_try(const void *at): jumps there with all registers zero, rsp too (signals have their own stack). It faults. */
	.globl processor_try, processor_tried
processor_try:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, processor_stack(%rip)
	mov %rdi, processor_at(%rip)
	xor %eax, %eax
	xor %ecx, %ecx
	xor %edx, %edx
	xor %ebx, %ebx
	xor %esp, %esp
	xor %ebp, %ebp
	xor %esi, %esi
	xor %edi, %edi
	xor %r8d, %r8d
	xor %r9d, %r9d
	xor %r10d, %r10d
	xor %r11d, %r11d
	xor %r12d, %r12d
	xor %r13d, %r13d
	xor %r14d, %r14d
	xor %r15d, %r15d
	jmp *processor_at(%rip)
processor_tried:
	mov processor_stack(%rip), %rsp
	cld
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.local processor_stack, processor_at
	.comm processor_stack, 8, 8
	.comm processor_at, 8, 8

	/* bool safe_copy(void *to, const void *from, size_t n) */
	.globl safe_copy, safe_copy_fault, safe_copy_end
safe_copy:
	mov %rdx, %rcx
	rep movsb
	mov $1, %eax
	ret
	/* bool safe_write(void *at): whether a byte there can be written, which stays as it is whoever else writes it */
	.globl safe_write, safe_read
safe_read:
	movzbl (%rdi), %eax
	mov $1, %eax
	ret
safe_write:
	lock orb $0, (%rdi)
	mov $1, %eax
	ret
safe_copy_end:
safe_copy_fault:
	xor %eax, %eax
	ret

	.globl fp_save, fp_save_end, fp_restore, fp_restore_end, fp_restore_fault
fp_save:
	mov %esi, %eax
	mov %rsi, %rdx
	shr $32, %rdx
	test %rsi, %rsi
	jz 1f
	xsave64 (%rdi)
	mov $1, %eax
	ret
1:	fxsave64 (%rdi)
	mov $1, %eax
	ret
fp_save_end:
fp_restore:
	mov %esi, %eax
	mov %rsi, %rdx
	shr $32, %rdx
	test %rsi, %rsi
	jz 1f
	xrstor64 (%rdi)
	mov $1, %eax
	ret
1:	fxrstor64 (%rdi)
	mov $1, %eax
	ret
	/* bool fp_served(void *area, uint64_t features, enum fp_form form) */
	.globl fp_served
fp_served:
	mov %edx, %ecx
	mov %esi, %eax
	mov %rsi, %rdx
	shr $32, %rdx
	cmp $FORM_XSAVE_WIDE, %ecx
	jb 1f
	je 2f
	cmp $FORM_XSAVEOPT_WIDE, %ecx
	jb 3f
	je 4f
	cmp $FORM_XSAVEC_WIDE, %ecx
	jb 5f
	je 6f
	cmp $FORM_XRSTOR_WIDE, %ecx
	jb 7f
	xrstor64 (%rdi)
	jmp 8f
1:	xsave (%rdi)
	jmp 8f
2:	xsave64 (%rdi)
	jmp 8f
3:	xsaveopt (%rdi)
	jmp 8f
4:	xsaveopt64 (%rdi)
	jmp 8f
5:	xsavec (%rdi)
	jmp 8f
6:	xsavec64 (%rdi)
	jmp 8f
7:	xrstor (%rdi)
8:	mov $1, %eax
	ret
fp_restore_end:
fp_restore_fault:
	xor %eax, %eax
	ret
	.section .note.GNU-stack, "", @progbits

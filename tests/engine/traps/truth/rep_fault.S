# A rep that faults is restarted where it was: one instruction, and each iteration once.
# truth: instructions 386          # 23 + 20 × (10 in the loop + 6 handler + 2 restorer) + 3
# truth: blocks 62                 # entry, 20 × (1:, handler, restorer), exit; the restarted rep is 1:'s execution
# truth: branches 40
# truth: conditional 20
# truth: taken 19
# truth: not_taken 1
# truth: returns 20
# truth: loads 20                  # ret
# truth: stores 20                 # the restarted rep, once each
# truth: rep_instructions 20
# truth: rep_iterations 4000       # 20 × (96 before the fault + 104 behind it)
# truth: data_reads 20
# truth: data_writes 4000
# truth: bytes_read 160
# truth: bytes_written 4000
# truth: syscalls 64               # 3 + 20 × (mprotect, mprotect, rt_sigreturn) + exit
# truth: syscalls:mmap 1
# truth: syscalls:rt_sigaction 1
# truth: syscalls:mprotect 41
# truth: syscalls:rt_sigreturn 20
# truth: syscalls:exit 1
# truth: faults 20
	.include "truth.inc"
	.globl	_start
# registers: r12 two pages, r13 the count
_start:	mov	$9, %eax			# mmap(0, 8192, PROT_READ | PROT_WRITE, private anonymous)
	xor	%edi, %edi
	mov	$8192, %esi
	mov	$3, %edx
	mov	$0x22, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	mov	%rax, %r12
	mov	$13, %eax			# rt_sigaction(SIGSEGV, &action, 0, 8)
	mov	$11, %edi
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	mov	$20, %r13d
	mov	$10, %eax			# mprotect(second page, 4096, PROT_NONE)
	lea	4096(%r12), %rdi
	mov	$4096, %esi
	xor	%edx, %edx
	syscall
	lea	4000(%r12), %rdi
	mov	$200, %ecx			# 23
1:	rep stosb				# 96 bytes of the first page, then faults; restarted, 104 of the second
	mov	$10, %eax			# mprotect(second page, 4096, PROT_NONE)
	lea	4096(%r12), %rdi
	mov	$4096, %esi
	xor	%edx, %edx
	syscall
	lea	4000(%r12), %rdi
	mov	$200, %ecx
	dec	%r13d
	jnz	1b				# 20 × 10
	exit_0					# 3
handler: mov	$10, %eax			# mprotect(second page, 4096, PROT_READ | PROT_WRITE)
	lea	4096(%r12), %rdi
	mov	$4096, %esi
	mov	$3, %edx
	syscall
	ret					# 20 × 6
restorer: mov	$15, %eax
	syscall					# 20 × 2
	.data
action:	.quad	handler, 0x04000000, restorer, 0

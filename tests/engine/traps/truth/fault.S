# A store that faults and is restarted counts once; its handler counts; so does the sigreturn.
# truth: instructions 819          # 16 + 50 × (8 in the loop + 6 handler + 2 restorer) + 3
# truth: blocks 152                # entry, 50 × (1:, handler, restorer), exit; the restarted store is 1:'s execution
# truth: branches 100
# truth: conditional 50
# truth: taken 49
# truth: not_taken 1
# truth: returns 50
# truth: loads 50                  # ret
# truth: stores 50                 # the restarted store, once each
# truth: data_reads 50
# truth: data_writes 50
# truth: bytes_read 400
# truth: bytes_written 400
# truth: syscalls 153              # 2 + 50 × (mprotect, mprotect, rt_sigreturn) + exit
# truth: syscalls:mmap 1
# truth: syscalls:rt_sigaction 1
# truth: syscalls:mprotect 100
# truth: syscalls:rt_sigreturn 50
# truth: syscalls:exit 1
# truth: faults 50
	.include "truth.inc"
	.globl	_start
# registers: r12 the page, r13 the count
_start:	mov	$9, %eax			# mmap(0, 4096, PROT_READ, private anonymous)
	xor	%edi, %edi
	mov	$4096, %esi
	mov	$1, %edx
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
	mov	$50, %r13d			# 16
1:	movq	$5, (%r12)			# 50 × 1: faults, is restarted
	mov	$10, %eax			# mprotect(page, 4096, PROT_READ)
	mov	%r12, %rdi
	mov	$4096, %esi
	mov	$1, %edx
	syscall
	dec	%r13d
	jnz	1b				# 50 × 8
	exit_0					# 3
handler: mov	$10, %eax			# mprotect(page, 4096, PROT_READ | PROT_WRITE)
	mov	%r12, %rdi
	mov	$4096, %esi
	mov	$3, %edx
	syscall
	ret					# 50 × 6
restorer: mov	$15, %eax
	syscall					# 50 × 2
	.data
action:	.quad	handler, 0x04000000, restorer, 0

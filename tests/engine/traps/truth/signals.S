# A signal that the program sends itself: the handler's instructions count.
# truth: instructions 1013         # 10 + 100 × (6 + 2 handler + 2 restorer) + 3
# truth: blocks 302                # entry, 100 × (1:, handler, restorer), exit; a system call ends no block
# truth: branches 200
# truth: conditional 100
# truth: taken 99
# truth: not_taken 1
# truth: returns 100
# truth: loads 200                 # incl, ret
# truth: stores 100                # incl
# truth: data_reads 200
# truth: data_writes 100
# truth: bytes_read 1200
# truth: bytes_written 400
# truth: syscalls 203              # rt_sigaction, getpid, 100 × (kill, rt_sigreturn), exit
# truth: syscalls:kill 100
# truth: syscalls:rt_sigreturn 100
# truth: syscalls:rt_sigaction 1
# truth: syscalls:getpid 1
# truth: syscalls:exit 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$13, %eax			# rt_sigaction(SIGUSR1)
	mov	$10, %edi
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	mov	$39, %eax			# getpid
	syscall
	mov	%eax, %r12d
	mov	$100, %r13d			# 10
1:	mov	$62, %eax			# kill(self, SIGUSR1)
	mov	%r12d, %edi
	mov	$10, %esi
	syscall
	dec	%r13d
	jnz	1b				# 100 × 6
	exit_0
handler: incl	count(%rip)
	ret					# 100 × 2
restorer: mov	$15, %eax
	syscall					# 100 × 2
	.data
action:	.quad	handler, 0x04000000, restorer, 0
count:	.quad	0

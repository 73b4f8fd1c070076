# Locked (atomic) instructions and prefetches, 50 times.
# truth: instructions 704       # mov + 50 × 14 + exit 3
# truth: blocks 52
# truth: branches 50
# truth: conditional 50
# truth: taken 49
# truth: not_taken 1
# truth: locked 300             # lock add, lock inc, lock cmpxchg, lock xadd, xchg (locks without a prefix), lock cmpxchg16b
# truth: prefetches 200         # t0, nta, t1, w
# truth: loads 350              # the six locked and the plain xadd
# truth: stores 350
# truth: data_reads 350
# truth: data_writes 350
# truth: bytes_read 2800        # 8 + 4 + 8 + 4 + 8 + 16 + 8 = 56; failed and successful compare-exchanges both write on the bus
# truth: bytes_written 2800
# truth: syscalls 1
	.include "truth.inc"
	.globl	_start
_start:	mov	$50, %r12d
1:	lock addq $1, data(%rip)
	lock incl data+8(%rip)
	lock cmpxchg %rbx, data(%rip)
	lock xadd %ebx, data+8(%rip)
	xchg	%rbx, data(%rip)
	lock cmpxchg16b data+16(%rip)
	xadd	%rax, data+32(%rip)		# not locked
	prefetcht0 data(%rip)
	prefetchnta data(%rip)
	prefetcht1 data(%rip)
	prefetchw data(%rip)
	xchg	%rax, %rbx			# registers: not locked
	dec	%r12d
	jnz	1b
	exit_0
	.data
	.balign	64
data:	.space	64

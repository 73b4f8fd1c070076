# System calls by name, cpuid, rdtsc, rdtscp, fences.
# truth: instructions 424          # mov + 20 × 21 + exit 3
# truth: blocks 22
# truth: branches 20
# truth: conditional 20
# truth: taken 19
# truth: not_taken 1
# truth: syscalls 101              # 20 × 5 + exit
# truth: syscalls:getpid 40
# truth: syscalls:getppid 20
# truth: syscalls:sched_yield 20
# truth: syscalls:write 20         # of zero bytes
# truth: syscalls:exit 1
# truth: cpuid 20
# truth: rdtsc 40                  # rdtsc and rdtscp
# truth: serialising 20            # cpuid
# needs: rdtscp
	.include "truth.inc"
	.globl	_start
_start:	mov	$20, %r12d
1:	mov	$39, %eax
	syscall
	mov	$39, %eax
	syscall
	mov	$110, %eax
	syscall
	mov	$24, %eax
	syscall
	mov	$1, %eax
	mov	$1, %edi
	xor	%edx, %edx
	syscall
	xor	%eax, %eax
	cpuid
	rdtsc
	rdtscp
	lfence
	mfence
	pause
	dec	%r12d
	jnz	1b
	exit_0

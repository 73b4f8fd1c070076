/* Regions whose leaving call cannot be taken out of the access stream (src/engine/wire/region.h): the models count it in the region, the
   blocks do not. Each is entered and left 10 times, but `signalled` once; run says what stays of each. */
#include "named.h"
	.text
enter:	magic 0x54415202
	ret
leave:	magic 0x54415203
	ret
	.macro left name, times, call:vararg
	mov $\times, %r12d
1:	lea \name(%rip), %rdi
	call enter
	nop                     /* in */
	lea \name(%rip), %rdi   /* in */
	\call
	dec %r12d
	jnz 1b
	.endm
	.globl _start
_start:	lea got_leave(%rip), %rbx
	left plain, 10, call *(%rbx)

	left narrow, 10, call *(%ebx)

	mov $158, %eax          /* arch_prctl(ARCH_SET_GS) */
	mov $0x1001, %edi
	lea got_leave(%rip), %rsi
	syscall
	left by_gs, 10, call *%gs:0

	lea got_written(%rip), %rdx
	mov %rdx, %rbp
	.macro call_written
	mov %rbp, %rdx          /* in */
	jmp 2f                  /* in */
2:	call *(%rdx)
	.endm
	left written, 10, call_written

	.macro call_many        /* more addresses than are looked through: each is of the value before */
	lea chain(%rip), %rax   /* in: 42 */
	.rept 40
	mov (%rax), %rax
	.endr
	.byte 0x66, 0x90
	call leave
	.endm
	left many, 10, call_many

	mov $13, %eax           /* rt_sigaction(SIGSEGV) */
	mov $11, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	mov $10, %eax           /* mprotect: the jump in between faults */
	lea page(%rip), %rdi
	mov $4096, %esi
	xor %edx, %edx
	syscall
	left signalled, 1, call faulting

	mov $231, %eax
	xor %edi, %edi
	syscall
writes:	add $8, %rdx            /* of which the operand of the call was; it would be the same */
	magic 0x54415203
	ret
faulting:
	jmp *page(%rip)
handler:
	mov $10, %eax
	lea page(%rip), %rdi
	mov $4096, %esi
	mov $3, %edx
	syscall
	ret
restorer:
	mov $15, %eax
	syscall
	.data
got_written:
	.quad writes, writes
chain:	.quad chain
action:	.quad handler, 0x04000000, restorer, 0
	named plain
	named narrow
	named by_gs
	named written
	named many
	named signalled
	.balign 4096
page:	.quad leave
	.balign 4096

# fact: instructions that overlap are each run as jumped at, and both ways by turns
	.text
	.globl _start
_start:	mov	$1000, %r12d
	xor	%ebx, %ebx
again:	jmp	outer
	ud2
outer:	.byte	0xb8				# mov $imm32, %eax
inner:	.byte	0xff, 0xc3, 0xeb, 0x02		# inc %ebx; jmp over the next two bytes
	jmp	1f				# after the mov
	jmp	3f				# after the inner jump
1:	cmp	$0x02ebc3ff, %eax
	jne	bad
	jmp	inner
3:	dec	%r12d
	jnz	again
	cmp	$1000, %ebx
	jne	bad
	jmp	4f+1				# into the middle: eb ff c0 = jmp -1; then ff c0 = inc %eax
	ud2
4:	.byte	0xe8				# hidden by the jump
	.byte	0xeb, 0xff, 0xc0		# jmp to its own last byte: inc %eax
	cmp	$0x02ebc400, %eax
	jne	bad
	mov	$1, %eax
	mov	$1, %edi
	lea	good(%rip), %rsi
	mov	$33, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
bad:	mov	$60, %eax
	mov	$1, %edi
	syscall
good:	.ascii	"yes overlapping instructions ran\n"

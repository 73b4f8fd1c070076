/*
 * A whole static program as bytes: ELF header, one segment, 0x1000 … Its counts, by arithmetic:
 *   instructions 308  2 + 100 × 3 + call, ret + mov, xor, syscall + 1
 *   loads 1 (ret), stores 1 (call), conditional 100, taken 99, direct calls 1, returns 1, system calls 1
 */
	.section .rodata
	.balign	16
	.globl	trial_program, trial_program_end
trial_program:
	.byte	0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
	.short	2, 62				/* ET_EXEC, EM_X86_64 */
	.long	1
	.quad	0x400000 + (start - trial_program)
	.quad	64, 0				/* program headers at 64, no section headers */
	.long	0
	.short	64, 56, 1, 0, 0, 0
	/* the program header: PT_LOAD, read and execute */
	.long	1, 5
	.quad	0, 0x400000, 0x400000
	.quad	trial_program_end - trial_program, trial_program_end - trial_program, 4096
	/* no executable stack */
start:	mov	$100, %ecx			/* 1 */
	xor	%edx, %edx			/* 1 */
1:	inc	%edx				/* 100 */
	dec	%ecx				/* 100 */
	jnz	1b				/* 100: 99 taken */
	call	2f				/* 1 */
	mov	$60, %eax			/* 1 */
	xor	%edi, %edi			/* 1 */
	syscall					/* 1 */
2:	nop					/* 1 */
	ret					/* 1 */
trial_program_end:
	.section .note.GNU-stack, "", @progbits

/* A change of fs's base runs the buffer in the middle of a system call: every vector register is the program's afterwards. Ends with 0; 1: not. */
	.intel_syntax noprefix
	.globl _start
_start:	mov ebx, 50
1:	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	mov eax, 0x1000 + \n
	movd xmm\n, eax
	pshufd xmm\n, xmm\n, 0
	.endr
	mov eax, 158
	mov edi, 0x1002
	mov rsi, rsp
	syscall
	test eax, eax
	jnz 2f
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movd eax, xmm\n
	cmp eax, 0x1000 + \n
	jne 2f
	pextrw eax, xmm\n, 6
	cmp eax, 0x1000 + \n
	jne 2f
	.endr
	dec ebx
	jnz 1b
	mov eax, 60
	xor edi, edi
	syscall
2:	mov eax, 60
	mov edi, 1
	syscall

/* Every form of data access that the stream must name: run by oracle.c, which knows their addresses from single steps. Ends with 0.
   STOP: 1 before fs's base is set, 2 before it changes in the middle (the oracle compares what comes after the last change), 3 at the end. */
	.intel_syntax noprefix
	.macro stop n
	.if STOP == \n
	mov eax, 60
	xor edi, edi
	syscall
	.endif
	.endm
	.globl _start
	.bss
	.balign 4096
area:	.space 16384
	.data
	.balign 64
table:	.quad one, two
pointer: .quad area + 64
chain:	.quad chain1
chain1:	.quad chain2
chain2:	.quad area
indices4: .long 0, 3, 7, 1, 100, 50, 2, 9, 4, 5, 6, 8, 11, 13, 17, -1
indices8: .quad 5, 9, -2, 40, 12, 13, 14, 200
mask4:	.long -1, 0, -1, -1, 0, 0, -1, -1
mask8:	.quad -1, 0, 0, -1
	.text
_start:
	mov rsi, rsp
	lea rbp, [rip + area + 4096]
	/* the stack, statically known through all of it */
	push rax
	push 7
	push qword ptr [rip + pointer]
	push qword ptr [rsp + 8]
	push rsp
	pop rcx
	pop qword ptr [rsp + 8]
	pop qword ptr [rbp + 16]
	pop rdx
	pop rax
	sub rsp, 256
	mov [rsp + 24], rax
	mov eax, [rsp + rdx * 1 + 40 - 7]
	add rsp, 128
	movaps [rsp], xmm0
	lea rsp, [rsp + 128]
	pushfq
	popfq
	push rbp
	mov rbp, rsp
	sub rsp, 64
	mov [rbp - 8], rsi
	and rsp, -64
	mov [rsp + 8], rsi
	leave
	enter 32, 0
	mov [rbp - 16], rax
	leave
	mov rdi, rbp
	lea rbp, [rip + area + 8192]
	enter 48, 5
	mov [rsp], rax
	leave
	enter 16, 1
	mov [rbp - 8], rsp
	leave
	mov rbp, rdi
	push 0
	mov rcx, rsp
	push rcx
	pop rsp
	mov [rsp], rcx
	pop rcx
	/* calls */
	call one
	lea rbx, [rip + table]
	call [rbx]
	call [rbx + 8]
	mov rax, [rbx + 8]
	call rax
	push 1
	push 2
	lea rax, [rip + three]
	call rax
	lea rax, [rip + 1f]
	mov [rip + area + 8], rax
	jmp [rip + area + 8]
1:	lea rax, [rip + 2f]
	mov [rip + area + 16], rax
	mov ecx, 2
	jmp [area + rcx * 8]
2:
	/* pointer chasing: each base is the last one's value */
	lea rax, [rip + chain]
	mov rax, [rax]
	mov rax, [rax]
	mov rax, [rax]
	mov rdx, [rax + 8]
	mov rcx, [rax + 16]
	mov [rax + 24], rcx
	/* followed registers: copies, sums with constants, zero */
	lea r8, [rip + area]
	mov r9, r8
	add r9, 128
	mov [r9], r8
	sub r8, -64
	mov [r8 + 4], eax
	inc r9
	mov [r9], al
	dec r8
	mov [r8], al
	lea r10, [r9 + 77]
	mov [r10], al
	xor r11d, r11d
	mov eax, [r11 + area]
	mov eax, [r10 + r11 * 8]
	mov r11d, 3
	mov eax, [r10 + r11 * 8]
	mov rax, [area]
	mov eax, [area + r11 * 4]
	movabs al, [area]
	movabs [area + 5], rax
	lea r11d, [r10 + 4]
	mov [r11], al
	mov r11d, r10d
	mov [r11], al
	mov r12, r10
	mov r13, r12
	mov [r12 + 1], al
	mov [r13 + 2], al
	/* r10 is needed no more where rsi's value is stored; but a later address is made of what it holds, and its copy too */
	lea r10, [rip + area + 512]
	lea rsi, [rip + area + 768]
	mov ecx, 5
	jmp 1f
1:	mov r13, r10
	imul rsi, rsi, 1
	mov eax, [rsi]
	xor esi, esi
	imul rbx, rcx, 8
	mov r10d, 7
	mov edx, [r13 + rbx]
	jmp 1f
1:	lea r10, [rip + area + 205]
	mov r12, r10
	mov r13, r10
	mov ecx, 5
	not ecx
	not ecx
	mov [r12 + rcx], al
	mov [r13 + rcx * 2 + 100], al
	mov [rcx * 8 + area], al
	mov [rcx * 1 + area], al
	mov [r12 + rcx * 4], ecx
	add rcx, 9
	mov [r12 + rcx * 4], ecx
	xchg r12, r13
	mov [r12], al
	cmove r12, r8
	mov [r12], al
	mov r12, [rip + pointer]
	mov r12, [r12 + rcx * 8]
	lea r12, [rip + area]
	xchg [r12 + 256], rax
	mov rax, r12
	xadd [rax + 8], rbx
	lock xadd [rax + 16], rbx
	lock inc qword ptr [rax + 24]
	add [rax + 24], rbx
	cmp [rax + 24], rbx
	neg byte ptr [rax + 3]
	mov rdx, 0
	mov rcx, 0
	mov rbx, 0
	mov rax, 0
	lock cmpxchg [r12 + 40], rbx
	lock cmpxchg16b [r12 + 64]
	cmpxchg8b [r12 + 64]
	imul rax, [r12 + 8], 3
	/* all registers are bases in one block */
	lea rax, [rip + area]
	lea rcx, [rax + 64]
	mov rdx, [rip + pointer]
	mov rbx, [rip + pointer]
	mov rsi, [rip + pointer]
	mov rdi, [rip + pointer]
	mov r8, [rip + pointer]
	mov r9, [rip + pointer]
	mov r10, [rip + pointer]
	mov r11, [rip + pointer]
	mov r12, [rip + pointer]
	mov r13, [rip + pointer]
	mov r14, [rip + pointer]
	mov r15, [rip + pointer]
	mov rbp, [rip + pointer]
	mov [rax], rcx
	mov [rcx], rdx
	mov [rdx + 8], rbx
	mov [rbx + 16], rsi
	mov [rsi + 24], rdi
	mov [rdi + 32], r8
	mov [r8 + 40], r9
	mov [r9 + 48], r10
	mov [r10 + 56], r11
	mov [r11 + 64], r12
	mov [r12 + 72], r13
	mov [r13 + 80], r14
	mov [r14 + 88], r15
	mov [r15 + 96], rbp
	mov [rbp + 104], rax
	mov [rsp - 8], rax
	lea r15, [rip + area + 1]
	test r15, r15
	jz 1f
1:
	/* 67h, xlat, bit offsets */
	mov rax, 0x7700000000
	lea rcx, [rip + area]
	add rax, rcx
	mov edx, [eax + 4]
	mov ecx, [rip + indices4 + 4]
	mov edx, [eax + ecx * 8]
	mov edx, [eip + area + 12]
	lea rbx, [rip + area]
	mov eax, 0x1234
	xlatb
	mov eax, 0x12ff
	xlat byte ptr ds:[rbx]
	addr32 xlatb
	mov rax, -100
	bt [rbx + 512], rax
	bts [rbx + 512], eax
	btr [rbx + 512], ax
	mov eax, 1000
	btc [rbx], eax
	lock bts [rbx], rax
	mov rax, -1
	bt qword ptr [rbx + 512], rax
	bt dword ptr [rbx + 512], 77
	/* strings */
	cld
	lea rsi, [rip + area]
	lea rdi, [rip + area + 2048]
	movsb
	movsq
	stosd
	lodsw
	cmpsb
	scasq
	mov ecx, 17
	rep movsb
	mov ecx, 5
	rep stosq
	xor ecx, ecx
	rep movsd
	mov ecx, 9
	repe cmpsb
	mov ecx, 9
	repne scasb
	mov ecx, 3
	rep lodsd
	std
	movsb
	movsw
	mov ecx, 7
	rep movsq
	mov ecx, 4
	rep stosb
	mov ecx, 30
	repe cmpsb
	mov ecx, 30
	mov al, 77
	repne scasb
	cld
	mov rsi, 0x7700000000
	lea rax, [rip + area]
	add rsi, rax
	addr32 lodsb
	stop 1
	/* fs, gs */
	mov eax, 158
	mov edi, 0x1002
	lea rsi, [rip + area + 1024]
	syscall
	mov eax, 158
	mov edi, 0x1001
	lea rsi, [rip + area + 3072]
	syscall
	lea rbx, [rip + area]
	mov rax, fs:[0]
	mov rax, fs:[8]
	mov ecx, 3
	mov fs:[rcx * 8], rax
	sub rbx, offset area
	mov fs:[rbx + rcx * 2 + 4], rax
	mov rax, gs:[0]
	mov gs:[rcx * 8 + 16], rax
	add gs:[rbx + rcx * 2 + 4], rax
	mov edx, [rip + indices4]
	mov gs:[edx + ecx * 4], al
	lea rsi, [rbx + 32]
	lea rdi, [rip + area + 4096]
	movs byte ptr [rdi], fs:[rsi]
	mov ecx, 4
	rep movs qword ptr [rdi], fs:[rsi]
	/* vectors */
	movntdq [rip + area], xmm0
	lea rdi, [rip + area + 160]
	pcmpeqd xmm1, xmm1
	maskmovdqu xmm0, xmm1
	prefetcht0 [rdi + 640]
	prefetchw [rdi + rcx * 2 + 640]
	clflush [rdi]
	lea rbx, [rip + area + 1024]
	vmovdqu ymm3, [rip + indices4]
	vmovdqu ymm5, [rip + mask4]
	vpgatherdd ymm4, [rbx + ymm3 * 4], ymm5
	vmovdqu ymm5, [rip + mask8]
	vpgatherdq ymm4, [rbx + xmm3 * 8 + 16], ymm5
	vmovdqu ymm5, [rip + mask4]
	vmovdqu ymm6, [rip + indices8]
	vgatherqps xmm4, [rbx + ymm6 * 2], xmm5
	vmovdqu ymm5, [rip + mask8]
	vgatherqpd ymm4, [rbx + ymm6 * 1], ymm5
	vmovdqu xmm5, [rip + mask8]
	vmovdqa xmm12, xmm6
	vgatherqpd xmm4, [rbx + xmm12], xmm5
	vmovdqu xmm5, [rip + mask4]
	vgatherqps xmm4, [rbx + xmm12 * 4], xmm5
	vmaskmovps [rbx], ymm5, ymm4
	vmovdqu32 zmm17, [rip + indices4]
	vmovdqu64 zmm28, [rip + indices8]
	mov eax, 0xa5c3
	kmovd k2, eax
	mov r14, rbx
	vpgatherdd zmm20{k2}, [r14 + zmm17 * 4]
	kmovd k2, eax
	vpgatherdq zmm20{k2}, [r14 + ymm17 * 8]
	kmovd k3, eax
	vpgatherqq zmm20{k3}, [r14 + zmm28 * 2]
	kmovd k3, eax
	vpgatherqd ymm20{k3}, [r14 + zmm28 * 2]
	kmovd k7, eax
	vpscatterdd [r14 + zmm17 * 4]{k7}, zmm20
	kmovd k1, eax
	vscatterqpd [r14 + zmm28 * 8]{k1}, zmm20
	kmovd k1, eax
	vgatherdps xmm20{k1}, [r14 + xmm17 * 4]
	kmovd k1, eax
	vmovdqu32 [rbx]{k1}, zmm20
	vmovdqu32 zmm20{k1}{z}, [rbx + 64]
	vaddps zmm1, zmm2, dword ptr [rbx + 4]{1to16}
	fldt [rbx]
	fstpt [rbx + 16]
	fnstcw [rbx]
	fldcw [rbx]
	lea rbx, [rip + area + 8192]
	fxsave [rbx]
	fxrstor [rbx]
	mov eax, -1
	mov edx, 0
	xsave [rbx]
	xrstor [rbx]
	stmxcsr [rbx]
	ldmxcsr [rbx]
	vzeroupper
	stop 2
	/* a base that changes: everything before is in fs's old area */
	lea rax, [rip + area + 2048]
	wrfsbase rax
	mov rax, fs:[16]
	mov fs:[24], rax
	call one
	stop 3
one:	mov rax, [rip + pointer]
	ret
two:	push rbx
	mov rbx, [rsp + 8]
	mov [rip + area + 32], rbx
	pop rbx
	ret
three:	ret 16

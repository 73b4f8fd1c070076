/* Instructions, and beside each what one execution of it counts as: the events by the names and definitions of
   data/events/program.events, written by hand from the manuals. exact_events_test.c reads them. Every event that is not named is 0;
   instructions is 1. Short for several:
       I            integer-instructions                         V        vector-instructions
       L8, S8       a load, a store of 8 bytes                   LS8      both, of one operand
       B            branches, unconditional-branches, taken-branches (a jump, call or return)
       fp:W-P:N     an FP instruction of width W (scalar 128 256 512), precision P (single double half), N operations, with V and, if it
                    is a vector, packed-instructions
       (what is a load, a prefetch or a fence is loads-and-prefetches, too, what is an FP operation or an integer multiplication pentium-flops)
       fma:W-P:N    a fused multiply-add likewise                x87:N    an x87 instruction of N operations */
	.macro row expected:req, instruction:vararg
	.text
8:	\instruction
6:	.data
	.quad 8b, 6b, 7f
	.section .rodata.str1.1, "aMS", @progbits, 1
7:	.asciz "\expected"
	.endm

	.data
	.p2align 3
	.globl rows, rows_end
rows:
	/* moves and integer arithmetic */
	row "I", mov %rax, %rbx
	row "I", mov $1, %eax
	row "I", lea 8(%rax,%rbx,4), %rcx
	row "I", add %rax, %rbx
	row "I", bswap %rax
	row "I", cmovz %rax, %rbx
	row "I L4", cmovz (%rax), %ebx
	row "I L8", mov (%rax), %rbx
	row "I L1", mov (%rax), %bl
	row "I L2", movzwl (%rax), %ebx
	row "I S8", mov %rbx, (%rax)
	row "I S4", movl $5, (%rax)
	row "I S2", movw $5, (%rax)
	row "I L8", add (%rax), %rbx
	row "I LS8", add %rbx, (%rax)
	row "I LS4", incl (%rax)
	row "I L8", cmp %rbx, (%rax)
	row "I L4", testl $1, (%rax)
	row "I S1", sete (%rax)
	row "I nops=1", nopw (%rax)
	row "I S8", push %rax
	row "I S8", push $1
	row "I L8", pop %rax
	row "I L8,S8", push (%rax)
	row "I L8,S8", pop (%rax)
	row "I S8", pushf
	row "I L8", popf
	row "I L8", leave
	row "I S8", enter $16, $0
	row "I L1", xlat
	row "I LS8 locked-instructions=1", lock add %rbx, (%rax)
	row "I LS8 locked-instructions=1", xchg %rbx, (%rax)
	row "I", xchg %rbx, %rcx
	row "I LS8", xadd %rbx, (%rax)
	row "I LS8 locked-instructions=1", lock cmpxchg %rbx, (%rax)
	row "I LS16 locked-instructions=1", lock cmpxchg16b (%rax)
	row "I integer-multiplies=1", mul %rbx
	row "I integer-multiplies=1", imul %rbx
	row "I integer-multiplies=1", imul %rbx, %rcx
	row "I integer-multiplies=1", imul $3, %rbx, %rcx
	row "I integer-multiplies=1 L8", imul (%rax), %rcx
	row "I integer-multiplies=1", mulx %rax, %rbx, %rcx
	row "I integer-divides=1", div %rbx
	row "I integer-divides=1 L4", idivl (%rax)
	row "I integer-divides=1", idiv %bl
	row "I nops=1", nop
	row "I nops=1", endbr64
	row "I nops=1", pause
	row "I fences=1", lfence
	row "I fences=1", sfence
	row "I fences=1", mfence
	row "I prefetch-instructions=1", prefetcht0 (%rax)
	row "I prefetch-instructions=1", prefetchnta (%rax)
	row "I prefetch-instructions=1", prefetchw (%rax)
	row "I", clflush (%rax)
	row "I S8 non-temporal-stores=1", movnti %rbx, (%rax)
	row "I cpuid-instructions=1 serialising-instructions=1", cpuid
	row "I serialising-instructions=1", serialize
	row "I tsc-reads=1", rdtsc
	row "I tsc-reads=1", rdtscp
	row "I segment-loads=1", mov %ax, %ds
	row "I segment-loads=1", mov %ax, %fs
	row "I segment-loads=1", mov %ax, %gs
	row "I", mov %ds, %eax
	row "I", rdfsbase %rax
	/* strings: with rep, reads and writes come with the iterations */
	row "I string-instructions=1 L1,S1", movsb
	row "I string-instructions=1 L8,S8", movsq
	row "I string-instructions=1 S4", stosl
	row "I string-instructions=1 L2", lodsw
	row "I string-instructions=1 L1", scasb
	row "I string-instructions=1 loads=1 memory-instructions=1 data-reads=2 data-accesses=2 data-read-bytes=2", cmpsb
	row "I string-instructions=1 rep-instructions=1 loads=1 stores=1 memory-instructions=1", rep movsb
	row "I string-instructions=1 rep-instructions=1 stores=1 memory-instructions=1", rep stosq
	row "I string-instructions=1 rep-instructions=1 loads=1 memory-instructions=1", repne scasb
	row "I string-instructions=1 rep-instructions=1 loads=1 memory-instructions=1", repe cmpsb
	/* branches */
	row "branches=1 conditional-branches=1 conditional-not-taken=1", jz 6f
	row "branches=1 conditional-branches=1 conditional-not-taken=1", .byte 0x0f, 0x8f, 0, 0, 0, 0
	row "branches=1 conditional-branches=1 conditional-not-taken=1", loop 6f
	row "branches=1 conditional-branches=1 conditional-not-taken=1", jrcxz 6f
	row "B direct-jumps=1", jmp 6f
	row "B direct-jumps=1", .byte 0xe9, 0, 0, 0, 0
	row "B indirect-jumps=1", jmp *%rax
	row "B indirect-jumps=1 L8", jmp *(%rax)
	row "B calls=1 direct-calls=1 S8", call 6f
	row "B calls=1 indirect-calls=1 S8", call *%rax
	row "B calls=1 indirect-calls=1 L8,S8", call *(%rax)
	row "B returns=1 L8", ret
	row "B returns=1 L8", ret $8
	row "I system-calls=1", syscall
	row "I system-calls=1", int $0x80
	row "I", int $0x81
	/* x87 */
	row "x87:0", fld1
	row "x87:0 L8", fldl (%rax)
	row "x87:0 S4", fsts (%rax)
	row "x87:0 L10", fldt (%rax)
	row "x87:0", fxch
	row "x87:1", fadd %st(1)
	row "x87:1 L8", faddl (%rax)
	row "x87:1 L4", fmuls (%rax)
	row "x87:1 fp-divides=1", fdivp
	row "x87:1 fp-divides=1 L8", fdivl (%rax)
	row "x87:1 fp-square-roots=1", fsqrt
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fsin /* the Pentium's flops do not know it */
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fcos
	row "x87-instructions=1 x87-operations=2 fp-operations=2 fp-instructions=1", fsincos
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fptan
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fpatan
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", f2xm1
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fyl2x
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fyl2xp1
	row "x87-instructions=1 x87-operations=1 fp-operations=1 fp-instructions=1", fscale
	row "x87:1", fprem
	row "x87:1", fprem1
	row "x87:0 L4 fp-integer-conversions=1", fildl (%rax)
	row "x87:0 S8 fp-integer-conversions=1", fistpll (%rax)
	/* SSE: scalar */
	row "fp:scalar-single:1", addss %xmm0, %xmm1
	row "fp:scalar-single:1 L4", mulss (%rax), %xmm1
	row "fp:scalar-double:1", subsd %xmm0, %xmm1
	row "fp:scalar-double:1 L8", addsd (%rax), %xmm1
	row "fp:scalar-double:1 fp-divides=1", divsd %xmm0, %xmm1
	row "fp:scalar-single:1 fp-divides=1", divss %xmm0, %xmm1
	row "fp:scalar-double:1 fp-square-roots=1", sqrtsd %xmm0, %xmm1
	row "fp:scalar-single:1", rsqrtss %xmm0, %xmm1
	row "fp:scalar-single:1", rcpss %xmm0, %xmm1
	row "fp:scalar-double:1", maxsd %xmm0, %xmm1
	row "V", comisd %xmm0, %xmm1
	row "V fp-conversions=1", cvtss2sd %xmm0, %xmm1
	row "V fp-conversions=1", cvtsd2ss %xmm0, %xmm1
	row "V fp-conversions=1 L8", cvtsd2ss (%rax), %xmm1
	row "V fp-integer-conversions=1", cvtsi2sd %rax, %xmm1
	row "V fp-integer-conversions=1", cvttsd2si %xmm1, %rax
	row "V fp-integer-conversions=1", cvtdq2ps %xmm0, %xmm1
	row "V", movaps %xmm0, %xmm1
	row "V L16", movaps (%rax), %xmm1
	row "V S16", movups %xmm1, (%rax)
	row "V L8", movsd (%rax), %xmm1
	row "V S16 non-temporal-stores=1", movntdq %xmm1, (%rax)
	row "V L16", movntdqa (%rax), %xmm1
	row "V", shufps $1, %xmm0, %xmm1
	row "I L4", ldmxcsr (%rax)
	row "I S4", stmxcsr (%rax)
	/* packed */
	row "fp:128-single:4", addps %xmm0, %xmm1
	row "fp:128-single:4 L16", mulps (%rax), %xmm1
	row "fp:128-double:2", addpd %xmm0, %xmm1
	row "fp:128-double:2 fp-divides=1", divpd %xmm0, %xmm1
	row "fp:128-single:4 fp-square-roots=1", sqrtps %xmm0, %xmm1
	row "fp:128-single:4", haddps %xmm0, %xmm1
	row "fp:128-double:2", addsubpd %xmm0, %xmm1
	row "fp:256-single:8", vaddps %ymm0, %ymm1, %ymm2
	row "fp:256-single:8 L32", vmulps (%rax), %ymm1, %ymm2
	row "fp:256-double:4", vsubpd %ymm0, %ymm1, %ymm2
	row "fp:256-double:4 fp-divides=1", vdivpd %ymm0, %ymm1, %ymm2
	row "fp:128-double:2", vaddpd %xmm0, %xmm1, %xmm2
	row "fp:scalar-double:1", vaddsd %xmm0, %xmm1, %xmm2
	row "fp:512-single:16", vaddps %zmm0, %zmm1, %zmm2
	row "fp:512-double:8", vmulpd %zmm0, %zmm1, %zmm2
	row "fp:512-double:8 L64", vmulpd (%rax), %zmm1, %zmm2
	row "fp:512-double:8 L8", vmulpd (%rax){1to8}, %zmm1, %zmm2
	row "fp:512-single:16", vaddps %zmm0, %zmm1, %zmm2{%k1}
	row "fma:scalar-single:2", vfmadd213ss %xmm0, %xmm1, %xmm2
	row "fma:scalar-double:2", vfmadd231sd %xmm0, %xmm1, %xmm2
	row "fma:scalar-double:2 L8", vfnmsub132sd (%rax), %xmm1, %xmm2
	row "fma:128-single:8", vfmadd213ps %xmm0, %xmm1, %xmm2
	row "fma:128-double:4", vfmsub213pd %xmm0, %xmm1, %xmm2
	row "fma:256-single:16", vfmadd213ps %ymm0, %ymm1, %ymm2
	row "fma:256-double:8", vfmadd213pd %ymm0, %ymm1, %ymm2
	row "fma:512-single:32", vfmadd213ps %zmm0, %zmm1, %zmm2
	row "fma:512-double:16", vfmadd213pd %zmm0, %zmm1, %zmm2
	row "fp:128-half:8", vaddph %xmm0, %xmm1, %xmm2
	row "fma:512-half:64", vfmadd213ph %zmm0, %zmm1, %zmm2
	/* vector integers */
	row "V vector-integer-instructions=1 packed-instructions=1", paddd %xmm0, %xmm1
	row "V vector-integer-instructions=1 packed-instructions=1", paddd %mm0, %mm1
	row "V vector-integer-instructions=1 packed-instructions=1", pmulld %xmm0, %xmm1
	row "V vector-integer-instructions=1 packed-instructions=1", vpaddq %ymm0, %ymm1, %ymm2
	row "V vector-integer-instructions=1 packed-instructions=1 L64", vpandq (%rax), %zmm1, %zmm2
	row "V vector-integer-instructions=1 packed-instructions=1", pxor %xmm0, %xmm0
	row "V", movd %eax, %xmm0
	row "V", movq %xmm0, %rax
	row "V", kmovw %eax, %k1
	row "V", vzeroupper
	row "V", emms
	row "V crypto-instructions=1", aesenc %xmm0, %xmm1
	row "V crypto-instructions=1", sha256rnds2 %xmm1, %xmm2
	row "V crypto-instructions=1", pclmulqdq $0, %xmm0, %xmm1
	row "V crypto-instructions=1", gf2p8mulb %xmm0, %xmm1
	row "I", crc32b %al, %ebx
	row "V loads=1 memory-instructions=1 gathers=1 data-reads=4 data-accesses=4 data-read-bytes=16", vpgatherdd %xmm0, (%rax,%xmm1), %xmm2
	row "V loads=1 memory-instructions=1 gathers=1 data-reads=8 data-accesses=8 data-read-bytes=64", vgatherqpd (%rax,%zmm1), %zmm2{%k1}
	row "V stores=1 memory-instructions=1 scatters=1 data-writes=16 data-accesses=16 data-write-bytes=64", vpscatterdd %zmm2, (%rax,%zmm1){%k1}
	row "V L16", vmovdqu32 (%rax), %xmm1{%k1}
	row "V S32", vmaskmovps %ymm0, %ymm1, (%rax)
	.data
	.globl rows_end
rows_end:
	.quad 0
	.section .note.GNU-stack, "", @progbits

/*
 * The first call of a function that is loaded when it is called: its stub (tools/lazy-libraries) has put the
 * function's number into x17. The arguments stay as they are while lazy_find() loads it; then the function is called
 * as if the stub had been it.
 */
	.text
	.globl lazy_call
	.hidden lazy_call
	.type lazy_call, %function
lazy_call:
	stp x29, x30, [sp, #-224]!
	mov x29, sp
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	str x8, [sp, #80]
	stp q0, q1, [sp, #96]
	stp q2, q3, [sp, #128]
	stp q4, q5, [sp, #160]
	stp q6, q7, [sp, #192]
	mov x0, x17
	bl lazy_find
	mov x16, x0
	ldp q0, q1, [sp, #96]
	ldp q2, q3, [sp, #128]
	ldp q4, q5, [sp, #160]
	ldp q6, q7, [sp, #192]
	ldp x0, x1, [sp, #16]
	ldp x2, x3, [sp, #32]
	ldp x4, x5, [sp, #48]
	ldp x6, x7, [sp, #64]
	ldr x8, [sp, #80]
	ldp x29, x30, [sp], #224
	br x16
	.size lazy_call, . - lazy_call

	.section .note.GNU-stack, "", %progbits

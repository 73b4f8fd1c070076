/* For assembly alone: what a program needs that names its regions as libtare does (src/engine/wire/region.h): the marks that the engine
 * knows, names, and calls by way of a table, as of a PLT. enter and leave are the program's. */
	.macro magic code
	.byte 0x66, 0x0f, 0x1f, 0x84, 0
	.long \code
	.endm
	.macro named name
\name:	.quad 9f
9:	.asciz "\name"
	.endm

	.data
got_enter: .quad enter
got_leave: .quad leave

	.text
plt_enter:
	endbr64
	jmp *got_enter(%rip)
plt_leave:
	endbr64
	.byte 0xf2 /* bnd, which assemblers since Debian 13 refuse by name */
	jmp *got_leave(%rip)

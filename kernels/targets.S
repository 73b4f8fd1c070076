/* n times: an indirect jump from one place, to two targets in turns. */
#include "start.h"

	start
	lea	1f(%rip), %rsi
	lea	2f(%rip), %rdi
3:	xchg	%rsi, %rdi
	jmp	*%rsi
	nop				/* a jump to the next instruction is none to some counters */
1:	nop
2:	dec	N
	jnz	3b
	finish

/* n times: three direct and two indirect jumps, one direct and two indirect calls with their returns. */
#include "start.h"

	start
	lea	5f(%rip), %rsi
	lea	nothing(%rip), %rdi
	lea	6f(%rip), %rcx
	mov	%rdi, -8(%rsp)
	sub	$16, %rsp
1:	jmp	2f
2:
	jmp	3f
3:
	jmp	4f
4:
	jmp	*%rsi
5:
	jmp	*%rcx
6:
	call	nothing
	call	*%rdi
	call	*8(%rsp)
	dec	N
	jnz	1b
	add	$16, %rsp
	finish

nothing:
	ret

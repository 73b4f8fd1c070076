/* Safford's first program (5.5.1): n times incl, decl, jns; around it the five instructions of his main(). */
#include "start.h"

	start
	push	%rbp
	mov	%rsp, %rbp
	lea	-1(N), %rax
	xor	%edx, %edx
1:	inc	%edx
	dec	%rax
	jns	1b
	xor	%eax, %eax
	pop	%rbp
	finish

/* Branches of a 3 × 3 convolution over n pixels (Zagha, 4.4): three loops, one inside the other, that test at their bottom. */
#include "start.h"

	start
	xor	%eax, %eax
1:	mov	$3, %ecx
2:	mov	$3, %edx
3:	add	$1, %eax
	dec	%edx
	jnz	3b
	dec	%ecx
	jnz	2b
	dec	N
	jnz	1b
	finish

/* n times: two dot products of bfloat16 pairs into four floats. */
#include "start.h"

	start
	vpxor	%xmm0, %xmm0, %xmm0
1:	vdpbf16ps	%xmm0, %xmm0, %xmm1
	vdpbf16ps	%xmm0, %xmm0, %xmm1
	dec	N
	jnz	1b
	finish

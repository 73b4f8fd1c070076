/* n times: three divisions, two square roots, four conversions between precisions and five to and from integers. */
#include "start.h"

	start
	mov	$4, %eax
	cvtsi2sd	%eax, %xmm1
	movapd	%xmm1, %xmm0
1:	divsd	%xmm1, %xmm0
	divsd	%xmm1, %xmm0
	divss	%xmm1, %xmm2
	sqrtsd	%xmm1, %xmm3
	sqrtss	%xmm1, %xmm4
	cvtsd2ss	%xmm1, %xmm5
	cvtss2sd	%xmm5, %xmm5
	cvtps2pd	%xmm5, %xmm6
	cvtpd2ps	%xmm6, %xmm6
	cvtsi2sd	%eax, %xmm7
	cvtsi2sd	%eax, %xmm7
	cvttsd2si	%xmm1, %ecx
	cvttsd2si	%xmm1, %ecx
	cvtdq2pd	%xmm1, %xmm7
	dec	N
	jnz	1b
	finish

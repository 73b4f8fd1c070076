/* n times: cpuid, two reads of the time-stamp counter, and three loads of a segment register. */
#include "start.h"

	start
	mov	N, %r8
1:	xor	%eax, %eax
	cpuid
	rdtsc
	rdtsc
	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %es
	dec	%r8
	jnz	1b
	finish

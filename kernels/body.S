/* n times: the body of Korn's second kernel as gcc -O0 compiles it (Korn, Figure 1): four blocks of 25 instructions. Each has
 * three constant stores, and six additions of variables in memory that wait for one another. */
#include "start.h"

#define A (%rdi)
#define B 4(%rdi)
#define C 8(%rdi)

	/* to = left + right */
.macro sum to, left, right
	mov	\left, %edx
	mov	\right, %eax
	add	%edx, %eax
	mov	%eax, \to
.endm

	start
	lea	-64(%rsp), %rdi
1:	.rept	4
	movl	$1, A
	movl	$1, B
	movl	$1, C
	mov	B, %eax			/* a = b + 1 */
	add	$1, %eax
	mov	%eax, A
	mov	A, %eax			/* b = a + 1 */
	add	$1, %eax
	mov	%eax, B
	sum	C, A, B
	sum	A, B, C
	sum	B, A, C
	sum	C, A, B
	.endr
	dec	N
	jnz	1b
	finish

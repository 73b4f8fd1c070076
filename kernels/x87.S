/* n times: three x87 additions, two multiplications, a division, a square root, and three loads of constants with as many pops. */
#include "start.h"

	start
	fninit
1:	fld1
	fld1
	fldpi
	fadd	%st(1), %st
	fadd	%st(1), %st
	fadd	%st(1), %st
	fmul	%st(1), %st
	fmul	%st(1), %st
	fdiv	%st(1), %st
	fsqrt
	fstp	%st(0)
	fstp	%st(0)
	fstp	%st(0)
	dec	N
	jnz	1b
	finish

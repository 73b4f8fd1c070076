/* n times: a branch that is taken every other time (when the iterations left are odd), around one no-operation. */
#include "start.h"

	start
#if defined(__x86_64__)
1:	test	$1, %bl
	jnz	2f
	nop
2:	dec	N
	jnz	1b
#else
1:	tbnz	N, #0, 2f
	nop
2:	subs	N, N, #1
	b.ne	1b
#endif
	finish

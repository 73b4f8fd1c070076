/* n times: call a function that only returns. */
#include "start.h"

	start
#if defined(__x86_64__)
1:	call	nothing
	dec	N
	jnz	1b
	finish
nothing:
	ret
#else
1:	bl	nothing
	subs	N, N, #1
	b.ne	1b
	finish
nothing:
	ret
#endif

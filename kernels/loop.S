/* n times: decrement, branch back. The shortest loop there is. */
#include "start.h"

	start
#if defined(__x86_64__)
1:	dec	N
	jnz	1b
#else
1:	subs	N, N, #1
	b.ne	1b
#endif
	finish

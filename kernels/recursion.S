/* A function that calls itself until it is n deep, and returns n times; n up to 100,000. */
#include "start.h"

	start
	cmp	$100000, N
	ja	start_usage
	call	down
	finish

down:
	dec	N
	jz	1f
	call	down
1:	ret

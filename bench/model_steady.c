/* 32 MiB, all of them touched; then so many rounds of accesses here and there, with branches that depend on them: what a run needs of
   memory is the same however long it is. It is that large because a child's peak is never below what its parent had when it forked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS (8u << 20)

int main(int argc, char **argv)
{
	uint32_t x = 1, odd = 0, *v = malloc(ELEMENTS * sizeof *v);
	if (!v)
		return 2;
	memset(v, 1, ELEMENTS * sizeof *v);
	for (int round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--)
		for (int i = 0; i < 200000; i++) {
			x = x * 1664525u + 1013904223u;
			if ((v[x >> 9] += x) & 1)
				odd++;
		}
	return odd == 12345;
}

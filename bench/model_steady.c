/* So many rounds over the same two megabytes, with branches that depend on them: what a run needs is the same however long it is. */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static uint32_t v[512 * 1024];
	uint32_t x = 1, odd = 0;
	for (int round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--)
		for (int i = 0; i < 512 * 1024; i++) {
			x = x * 1664525u + 1013904223u;
			if ((v[x >> 13] += x) & 1)
				odd++;
		}
	return odd == 12345;
}

/* malloc and free of many sizes, brk and mmap. */
#include <stdlib.h>
#include <string.h>
int main(void)
{
	void *p[64];
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 64; i++)
			if ((p[i] = malloc((size_t)(i * i * 37 + 1))))
				memset(p[i], i, 8 > i * i * 37 + 1 ? 1 : 8);
		for (int i = 0; i < 64; i++)
			free(p[(i * 13) % 64]);
	}
	return 0;
}

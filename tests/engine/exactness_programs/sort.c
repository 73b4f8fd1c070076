/* qsort with a comparison by pointer: indirect calls, recursion. */
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	int v[200];
	unsigned x = 12345;
	for (int i = 0; i < 200; i++)
		v[i] = (int)((x = x * 1103515245u + 12345u) >> 16 & 0x7fff);
	qsort(v, 200, sizeof *v, compare);
	for (int i = 1; i < 200; i++)
		if (v[i - 1] > v[i])
			return 1;
	return 0;
}

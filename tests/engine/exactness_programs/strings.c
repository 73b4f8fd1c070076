/* The string functions that libc picks for this CPU, on lengths around their widths. */
#include <string.h>
int main(void)
{
	static char a[600], b[600];
	unsigned long sum = 0;
	for (size_t n = 0; n < 300; n += 7) {
		memset(a, 'a', n), a[n] = 0;
		memcpy(b, a, n + 1);
		sum += strlen(b) + (size_t)(memcmp(a, b, n) == 0) + (strchr(b, 'x') == NULL) + (size_t)strcmp(a, b);
		memmove(a + 3, a, n);
	}
	return sum == 0;
}

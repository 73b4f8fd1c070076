/* strtol, strtod, snprintf: multiprecision arithmetic of libc. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	char text[64];
	double sum = 0;
	for (int i = 1; i < 12; i++) {
		snprintf(text, sizeof text, "%d.%03de%d", i, i * 37 % 1000, i * 20 - 100);
		sum += strtod(text, 0) + (double)strtol(text, 0, 10);
	}
	return !(sum > 0);
}

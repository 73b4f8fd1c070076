/* Nieto et al., section 4.4: single-precision numbers, and operations that are rounded. The constant 1.5 is of double precision in C: each operation
   with it is done in double precision, and its result is rounded. */
#include <stdio.h>

enum { N = 100000 };

#ifndef FACTOR
#define FACTOR 1.5
#endif

static float a[N], b[N];

static __attribute__((noipa)) void add(void)
{
	for (int i = 0; i < N; i++)
		a[i] = a[i] + b[i] * FACTOR;
}

int main(void)
{
	for (int i = 0; i < N; i++) {
		a[i] = i % 100;
		b[i] = i % 10;
	}
	add();
	printf("%.2f\n", a[99]);
	return 0;
}

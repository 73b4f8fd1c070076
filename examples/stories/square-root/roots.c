/* Nieto et al., section 4.3: square roots. Without HARDWARE they are computed as a library without the instruction does it: a guess from the
   number's exponent, then Newton's iteration for 1/sqrt(x). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 100000 };

static double zz[N];

#ifdef HARDWARE
#define root sqrt
#else
static inline double root(double x)
{
	uint64_t bits;
	double y, half = 0.5 * x, s;
	memcpy(&bits, &x, sizeof bits);
	bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
	memcpy(&y, &bits, sizeof y);
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	y = y * (1.5 - half * y * y);
	s = x * y;
	return s + 0.5 * y * (x - s * s);
}
#endif

static __attribute__((noipa)) void roots(void)
{
	for (int i = 0; i < N; i++)
		zz[i] = 1.1 * root(zz[i]);
}

int main(void)
{
	for (int i = 0; i < N; i++)
		zz[i] = i + 1;
	roots();
	printf("%.9f %.9f\n", zz[0], zz[N - 1]);
	return 0;
}

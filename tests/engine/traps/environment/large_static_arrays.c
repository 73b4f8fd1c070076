/* fact: a program whose static arrays take all addresses below 2 GB runs (STREAM with N = 90,000,000)
 * build: -no-pie -fno-pie -mcmodel=medium -O2 */
#include "trap.h"

enum { N = 90000000 };
static double a[N], b[N], c[N];

static double triad(double x, double y) { return x + 3 * y; }
static double (*volatile call)(double, double) = triad;

int main(void)
{
	double sum = 0;
	for (long i = 0; i < N; i += 1000003) {
		b[i] = (double)i, c[i] = 1;
		a[i] = call(b[i], c[i]);
	}
	for (long i = 0; i < N; i += 1000003)
		sum += a[i] - b[i];
	fact_equal((long)sum, 3 * 90, "sum of differences");
	uint64_t first = (uint64_t)(&a[0] < &c[0] ? a : c), last = (uint64_t)(&a[0] < &c[0] ? c : a);
	fact(first < 0x10000000 && last + sizeof a > 0x80000000, "the arrays begin near 0 and end above 2 GB");
	return trap_done();
}

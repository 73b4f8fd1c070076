/* Several tests at once: Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6
 * (1979). */
#include <stdlib.h>

#include "stats/stats.h"

struct ordered_p {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct ordered_p *)a)->p, y = ((const struct ordered_p *)b)->p;
	return (x > y) - (x < y);
}

bool stats_adjust_holm(const double *p, size_t n, double *adjusted)
{
	struct ordered_p *order = calloc(n + 1, sizeof *order);
	double least = 0;
	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct ordered_p){p[i], i};
	qsort(order, n, sizeof *order, by_p);
	for (size_t i = 0; i < n; i++) {
		double one = order[i].p * (double)(n - i);
		least = one > least ? one : least;
		adjusted[order[i].at] = least < 1 ? least : 1;
	}
	free(order);
	return true;
}

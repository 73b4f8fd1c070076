/* Orders for qsort(3) and bsearch(3): the smallest first. */
#ifndef TARE_BASE_ORDER_H
#define TARE_BASE_ORDER_H

#include <stdint.h>

static inline int order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static inline int order_uint64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

#endif

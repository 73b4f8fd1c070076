/* A small seeded generator (splitmix64; Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, OOPSLA 2014): the same seed gives the same numbers on every machine. */
#ifndef TARE_BASE_RANDOM_H
#define TARE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_u64(struct random *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Uniform on [0, 1). */
static inline double random_unit(struct random *r) { return (double)(random_u64(r) >> 11) * 0x1.0p-53; }

/* Uniform on 0 … below-1; below > 0. The bias is below 2^-32 for below < 2^32. */
static inline uint64_t random_below(struct random *r, uint64_t below)
{
	return (uint64_t)(((unsigned __int128)random_u64(r) * below) >> 64);
}

/* 0 … n-1 in an order drawn from all n! (Fisher and Yates). */
static inline void random_order(struct random *r, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = random_below(r, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

#endif

/*
 * How well samples tell where a program's events took place: a sampled profile against an exact one of the same
 * execution. Numbers in, numbers out.
 *
 *  - Wu and Mencer's three: Wu, Mencer: Evaluating sampling based hotspot detection, ARCS 2009. They compare
 *    samples with executions: samples in proportion to time are called wrong by them where instructions take unequal
 *    times.
 *  - Measures of two shares of the same places, sampled and exact: those have to be shares of the same event.
 *
 * What always holds:
 *  1. The order of places changes nothing: where a measure depends on an order, places that tie share what there
 *     is.
 *  2. Equal profiles have error 0 (NRMSE, order deviation, total variation, earth mover's distance); their
 *     agreement is 1.
 *  3. 0/0 is 0 in Wu and Mencer's measures; a measure of shares that does not exist is NAN.
 */
#ifndef TARE_PROFILE_ACCURACY_H
#define TARE_PROFILE_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an instruction. `place` is any number that names it alone: its address, or its number among all. */
struct placed_count {
	uint64_t place;
	uint64_t count; /* samples, or executions; > 0 */
};

struct wu_mencer {
	double nrmse, sample_coverage, order_deviation;
	uint64_t samples; /* NS: at places that ran */
	size_t places;    /* m: different ones */
	uint64_t apart;   /* samples elsewhere (the kernel's, unmapped): in no measure */
};

/* With c_i samples at place i, r_i executions of it, NS = Σ c_i, NI = Σ r_i over all that ran, m places sampled:
 *
 *     nrmse           = √( Σ c_i/NS · (c_i/NS - r_i/NI)² ) / (max - min over both sets of shares)
 *     sample coverage = Σ r_i / NI
 *     order deviation = √( Σ c_i/NS · (SO_i - RO_i)² ) / m
 *
 * SO is the dense rank of c_i among the sampled places, RO that of r_i among all basic blocks that ran (1: the
 * most; ties share a rank). Both arrays by place, ascending, each place once: blocks' counts are their
 * instructions', so that the ranks are the same. False without memory. */
bool accuracy_wu_mencer(const struct placed_count *sampled, size_t n_sampled, const struct placed_count *ran,
			size_t n_ran, struct wu_mencer *out);

/* ---- two shares of n places: weights >= 0, each scaled to a sum of 1; NAN where one of them has the sum 0 ----
 * */

/* Σ min(sampled, exact): 1 for equal shares, 0 for shares of different places. Total variation is 1 - overlap. */
double accuracy_overlap(const double *sampled, const double *exact, size_t n);

/* Wall: Predicting program behavior using real or estimated profiles, PLDI 1991. Of the `top` places by samples:
 * the exact weight that they have, as a part of what the `top` places by exact weight have; and how many of them
 * are of these, as a part of how many there can be (`top`, or all that have weight). Places that tie at the end of
 * the sampled list share its last lines; one that ties at the end of the exact list is on it. */
double accuracy_weight_matching(const double *sampled, const double *exact, size_t n, size_t top);
double accuracy_key_matching(const double *sampled, const double *exact, size_t n, size_t top);

/* Kendall's τ-b in which a pair of places weighs the product of their weights (Vigna: A weighted correlation index
 * for rankings with ties, WWW 2015; Kendall 1945 for ties): -1 … 1; NAN where all of one tie. O(n log n) (Knight:
 * A computer method for calculating Kendall's tau with ungrouped data, JASA 61 (1966)). weights NULL: 1 each. */
double accuracy_kendall(const double *sampled, const double *exact, const double *weights, size_t n);

/* The least work that makes one of the other: share times the distance that it moves, in units of `position`
 * (Σ |difference of the cumulated shares| · distance to the next place). With positions in bytes: the mean skid,
 * where all of it goes one way. */
double accuracy_earth_mover(const double *sampled, const double *exact, const uint64_t *position, size_t n);

#endif

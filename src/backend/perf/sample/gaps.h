/*
 * Gaps between samples, drawn: plain arithmetic on a seeded generator.
 *
 * The best gaps are exponential: where the next sample falls then does not depend on what the program has done
 * since the last one, so that no rhythm of the program is in step with them, and shares have binomial errors.
 * But the kernel repeats a gap until tare sets another, and tare may have to wait for a CPU: a gap of 10 us
 * repeated for 10 ms would be 1000 samples. So half of a gap is fixed, and half of it exponential: never less
 * than half of the mean, with a standard deviation of half of the mean.
 *
 * How often to draw anew: with equal gaps in runs of k, the samples in a long phase of the program vary as
 * k x (deviation / mean)^2 times a Poisson process's (D. R. Cox, Renewal Theory, 1962, chapter 4.5, for runs as
 * renewals). With k = 4 that is 1: as if each gap were drawn and exponential, so that Wilson's intervals hold.
 * In simulations of phases of 0.01 to 100 gaps they then cover the truth as often as with a Poisson process, or
 * more often; with k = 16 they cover 70 % instead of 88 % at 100 gaps.
 *
 * Exponential numbers are drawn by comparing uniform ones (J. von Neumann, Various techniques used in
 * connection with random digits, NBS Applied Mathematics Series 12, 1951), which needs no logarithm: libtare
 * has no libm.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_GAPS_H
#define TARE_BACKEND_PERF_SAMPLE_GAPS_H

#include <stdint.h>

#include "base/random.h"
#include "result/profile.h"

/* A gap is drawn anew every so many samples, where the caller does not say. */
enum { GAP_REDRAW = 4 };

/* EXPONENTIAL: gap / 2 + exponential of mean gap / 2, rounded, at least 1. JITTER: gap + uniform(0, gap / 8),
 * both ends included (pfmon; Wu and Mencer). Other kinds: gap. */
uint64_t gap_draw(struct random *random, enum profile_gaps gaps, uint64_t gap);

/* What a sample stands for: the mean of the gaps that are drawn. */
uint64_t gap_mean(enum profile_gaps gaps, uint64_t gap);

/* Exponential of mean 1. */
double random_exponential(struct random *random);

#endif

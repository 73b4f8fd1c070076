/*
 * Gaps between samples, drawn: plain arithmetic on a seeded generator.
 *
 * Exponential gaps make the samples a Poisson process: where the next one falls does not depend on what the
 * program has done since the last one, so that no rhythm of the program can be in step with them, and shares
 * have binomial errors. They are drawn by comparing uniform numbers (J. von Neumann, Various techniques used in
 * connection with random digits, NBS Applied Mathematics Series 12, 1951), which needs no logarithm: libtare
 * has no libm.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_GAPS_H
#define TARE_BACKEND_PERF_SAMPLE_GAPS_H

#include <stdint.h>

#include "base/random.h"
#include "result/profile.h"

/* EXPONENTIAL: of this mean, rounded, at least 1. JITTER: gap + uniform(0, gap / 8), both ends included (pfmon;
 * Wu and Mencer). Other kinds: gap. */
uint64_t gap_draw(struct random *random, enum profile_gaps gaps, uint64_t gap);

/* Exponential of mean 1. */
double random_exponential(struct random *random);

#endif

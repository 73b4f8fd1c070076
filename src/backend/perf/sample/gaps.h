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
 * tare draws every 3 samples. Where it waits for a CPU, and a gap is expected to last longer, the gap's
 * deviation is smaller by the root of that: the product stays 1. As long as a sample's gap lasted 10.5
 * samples on average (gap_mean_run()), 94 % or more of the intervals hold (gaps_test); with delays of 50
 * gaps 83 %, of a phase of a third of the run.
 *
 * Exponential numbers are drawn by comparing uniform ones (J. von Neumann, Various techniques used in
 * connection with random digits, NBS Applied Mathematics Series 12, 1951), which needs no logarithm: libtare
 * has no libm.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_GAPS_H
#define TARE_BACKEND_PERF_SAMPLE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "result/profile.h"

/* A gap is drawn anew every so many samples, where the caller does not say. */
enum { GAP_REDRAW = 3 };

/* Up to this mean run, delays of tare do not matter to intervals. */
#define GAP_RUN_MOST 10.5

/* EXPONENTIAL: gap / 2 + exponential of mean gap / 2, rounded, at least 1. JITTER: gap + uniform(0, gap / 8),
 * both ends included (pfmon; Wu and Mencer). Other kinds: gap. */
uint64_t gap_draw(struct random *random, enum profile_gaps gaps, uint64_t gap);

/* What a sample stands for: the mean of the gaps that are drawn. */
uint64_t gap_mean(enum profile_gaps gaps, uint64_t gap);

/* Exponential of mean 1. */
double random_exponential(struct random *random);

/*
 * The gaps of one stream of samples, one after the other, with the kernel's two faults made good:
 *
 *  - a gap that is set begins anew, so that what had passed of the old one is lost: samples get rarer;
 *  - a gap repeats until tare sets the next. When tare is late, short gaps give more samples than were meant, and
 *    long ones fewer: on average more, since the mean of 1 / gap is above 1 / mean (of these gaps by 19 %).
 *
 * So after each gap the events that really passed are compared with those that its samples stand for, and
 * the gaps that follow are longer or shorter by a factor, as far as they are expected to last, until both
 * agree. Not made good is what the gap was drawn shorter or longer than its mean, for the samples that it
 * was meant for: that is the randomness that intervals rest on. tests/unit/gaps_test.c asserts on the
 * kernel's rule that the samples are then as many as the mean gap says, whatever tare's delays, and that
 * intervals hold as long as gaps are not used too long.
 */
struct gap_course {
	uint64_t gap; /* in force */
	double drawn; /* what it was made of */
	double owed;  /* events that passed, beyond those that samples stand for; below 0: too many samples */
	double lasts; /* how many events a gap is in force */
	/* over all gaps that have ended: samples, and the sum of their squares by gap */
	double samples, squares;
};

struct gap_plan {
	enum profile_gaps gaps;
	uint64_t gap;    /* as it was asked for */
	uint32_t redraw; /* samples that a gap is meant for */
};

void gap_begin(struct gap_course *course, const struct gap_plan *plan);
/* The gap in force ends, after so many events and samples. Not whole: samples of it were lost, or the kernel
 * paused it, so that nothing is to be learnt of it. */
void gap_end(struct gap_course *course, const struct gap_plan *plan, uint64_t counted, uint64_t samples,
	     bool whole);
/* The first gap, or the one after gap_end(). */
uint64_t gap_next(struct gap_course *course, const struct gap_plan *plan, struct random *random);

/* How many samples' gaps were the same, as a sample sees it: the mean over samples of how many its gap had. */
double gap_mean_run(double samples, double squares);

#endif

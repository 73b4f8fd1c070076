/*
 * Overflows × period ≈ count: a law between samples and the count of the same counter in the same execution (Zagha
 * et al. 1996, Appendix C: 96,520 overflows of 32,771 events each, 0.99 % more than were counted).
 *
 *     missing    the samples stand for less than was counted: some of it could not be sampled, and shares leave it
 *                out. The counter of a new thread begins with a whole gap, so one that ends before has no sample
 *     too many   they stand for more: the counter counts too little, or overflows too early
 *
 * A sample stands for its gap. What is lost is told apart, and counts as sampled here. The two sides may differ by
 * OVERFLOW_SLACK of the count, by OVERFLOW_GAPS gaps (where counters begin and end), and, of random gaps, by four
 * standard deviations of their sum: a gap that is kept for k samples has k times the variance of one.
 */
#ifndef TARE_TRUST_OVERFLOWS_H
#define TARE_TRUST_OVERFLOWS_H

#include <stdbool.h>

#include "result/profile.h"

#define OVERFLOW_SLACK 0.10
#define OVERFLOW_GAPS 8

enum overflow_law { OVERFLOWS_HOLD, OVERFLOWS_MISSING, OVERFLOWS_TOO_MANY };

/* stood_for: the sum of the samples' gaps, in the event's unit. An event without a total is not judged: HOLD. */
enum overflow_law overflows_judge(const struct profile_event *event, double stood_for);

/* Judges each event of the profile, and adds a note for each that breaks the law. stood_for[n_events]; NULL: each
 * sample is of the event's gap, as a simulated counter's are. False when memory ran out. */
bool overflows_check(struct profile *profile, const double *stood_for);

#endif

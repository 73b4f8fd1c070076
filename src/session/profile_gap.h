/*
 * How far samples are apart, where the user does not say: so that sampling takes 2 % of a program's CPU time at
 * most.
 *
 * A sample costs c ns, and an event takes place at most r times in a ns of the program's: with a gap of g
 * events sampling takes c x r / g of the time. So g is c x r / 0.02, or the least gap of that kind of event,
 * where that is more (some thousand samples a second). c is measured at the start, with what each sample
 * records; r is 1 for clocks, and what a loop that does little else has for other events (the backend's
 * trial). Of n events with such gaps, each has 2 % / n.
 */
#ifndef TARE_SESSION_PROFILE_GAP_H
#define TARE_SESSION_PROFILE_GAP_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/sampling.h"
#include "session/session.h"

struct profiling;

#define SAMPLING_SHARE_MOST 0.02

/* cost NULL, or one that is not known (0): the least gap. */
uint64_t profile_gap_within(const struct sampling_cost *cost, double share, uint64_t least);

/* What the session's events are sampled with: an array to be freed with free(), NULL when memory ran out.
 * costs[n_events]: ns of a sample where the gap was chosen by it, else 0. */
struct sampled_event *profile_gaps_choose(const struct session *session, const struct profiling *asked,
					  double *costs);

/* n, or the first above it that is prime: SpeedShop's way not to be in step with a loop. */
uint64_t profile_gap_prime(uint64_t n);

#endif

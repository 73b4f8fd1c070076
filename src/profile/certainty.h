/*
 * How sure a sampled profile's shares are: intervals, and ranks that the data cannot tell apart (stats/share.c,
 * stats/ranks.c).
 *
 * Both are of events with exponential gaps, whose samples are independent. Fixed gaps resonate with a program's
 * loops, and jittered ones may (tests/unit/gaps_test.c has the coverage of each): those have none here, nor has
 * an event whose gaps were not drawn to the end (threads, children). What was counted needs none. A profile of
 * several runs has intervals by how much they differ, whatever its gaps (replicates.h), and no ranks.
 */
#ifndef TARE_PROFILE_CERTAINTY_H
#define TARE_PROFILE_CERTAINTY_H

#include <stdbool.h>

#include "result/named_profile.h"

/* Fills in the rows' intervals and ranks. confidence: 0.95, 0.99. False when memory ran out. */
bool certainty_add(struct named_profile *named, double confidence);

#endif

/*
 * Several executions' profiles → one, with their samples told apart.
 *
 * What always holds:
 *  1. A place, or a stack, that several runs have is one node; cells add up to the runs' cells.
 *  2. A task is of one run, also where the kernel gave two runs' processes one id.
 *  3. Of runs at two gaps it is a check (checks_gaps).
 *  4. The events, command, machine and time of beginning are the first run's; samples, totals, losses and CPU
 *     times are sums. A total that one run does not know is not known.
 */
#ifndef TARE_PROFILE_MERGE_H
#define TARE_PROFILE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "result/profile.h"

/* profiles[n], n > 0. *out is the caller's (profile_free(), free()), and has runs[n]. ERROR_SYNTAX: their events
 * are not the same, or are counted, not sampled. */
bool profile_merge(const struct profile *const *profiles, size_t n, struct profile **out, struct error *err);

#endif

/*
 * How sure the shares of a merged profile are: by how much its runs differ (stats/share.c), and whether two gaps
 * tell the same (stats/agree.c).
 *
 * What always holds:
 *  1. A row is told to depend on the gap where in truth none of its table does in at most 1 - confidence of all
 *     checks: Holm's procedure over the rows of a table that have enough samples.
 *  2. A row agrees only where a large difference is excluded: the interval of the difference is within a quarter
 *     of the row's share, or one percentage point where that is more. To have shown no difference is not enough.
 */
#ifndef TARE_PROFILE_REPLICATES_H
#define TARE_PROFILE_REPLICATES_H

#include <stdbool.h>
#include <stddef.h>

#include "result/named_profile.h"

/* Fills in the rows' intervals, and where the profile checks gaps their `check`. Of an event of a profile with two
 * runs or more. False when memory ran out. */
bool replicates_add(struct named_profile *named, size_t event, double confidence);

#endif

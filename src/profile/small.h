/* Which files of a profile have hardly a count. */
#ifndef TARE_PROFILE_SMALL_H
#define TARE_PROFILE_SMALL_H

#include <stdbool.h>

#include "result/profile.h"

/* (*out)[n_modules], the caller's: files that have less than that share of each event's count. Two modules of one
 * path are both small, or neither is. *out is NULL: of samples, or memory ran out, which is false. */
bool small_modules(const struct profile *profile, double share, bool **out);

#endif

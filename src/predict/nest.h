/* What a function of nested loops counts, from its code alone: by depth.
 *
 *     count(n) = at[0] + at[1]*n + at[2]*n^2 + …      where each loop goes n times
 *
 * The path is the one on which each branch forward is not taken, and each loop goes its full number of times:
 * the code of a loop nest as compilers make it, whose branches forward skip what has nothing to do. What is
 * called is not in the counts. */
#ifndef TARE_PREDICT_NEST_H
#define TARE_PREDICT_NEST_H

#include "base/error.h"
#include "result/prediction.h"

enum { NEST_DEPTHS = 5 }; /* 0: in no loop */

/* Adds up event number `event` of p's blocks. ERROR_UNSUPPORTED where the code is not a nest: an indirect jump on
 * the path, a jump backward, a jump into a loop behind its first block (a loop that is tested first), loops that
 * overlap, or more than NEST_DEPTHS - 1 of them around a block. */
bool predict_nest(const struct prediction *p, size_t event, uint64_t at[NEST_DEPTHS], struct error *err);

#endif

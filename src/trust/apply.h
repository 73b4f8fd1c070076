/* A calibration applied to what `tare count` found of a program: gross becomes net.
 *
 * - Counted by the engine or a model: nothing of the measuring is in it, tare is 0.
 * - By a hardware counter all the time, and the overhead constant: value, runs and interval lose the calibration's
 * mean for an empty program; the interval grows by the mean's own ±, and the evidence is the calibration. A net
 * that is too small for its uncertainty (trust/rules.h) is not known, and says why.
 * - Anything else that is calibrated (caches, faults, times): the value stays, with a bound.
 * - Of regions, what the backend found out about its own probes: what it took off is tare; what it could not take
 *   off (times) is the
 * bound, and a region to which the threshold law does not allow so much is not known. Evidence: "region-trial".
 *
 * Of programs that tare starts, and their totals; threads, CPUs, processes that ran before, scaled counts, and all
 * counts of a program in which regions were looked for by probes stay gross. Metrics stay those of the gross
 * counts. */
#ifndef TARE_TRUST_APPLY_H
#define TARE_TRUST_APPLY_H

#include "result/result.h"
#include "store/calibration/calibration.h"

/* calibration NULL or empty: only what needs none is filled in. False when memory ran out. */
bool trust_apply(struct result *result, const struct calibration *calibration);

/* That part alone which is of regions, and needs no calibration: a count that is mostly of the probes is
 * refused. */
bool trust_apply_to_regions(struct result *result);

#endif

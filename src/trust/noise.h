/* The noise floor: how far apart the same command comes out from itself, and so the smallest difference between
 * two commands that means anything on this machine (an A/A run: both sides are one command, executions
 * alternating).
 *
 *     floor = t(0.975, df) · √(s_A²/n_A + s_B²/n_B) / mean        df by Welch and Satterthwaite
 *
 * is the relative difference of two means that Welch's test finds significant; where the A/A run itself was
 * farther apart than that (drift, which the spread of neighbours does not show), that is the floor. */
#ifndef TARE_TRUST_NOISE_H
#define TARE_TRUST_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#include "store/calibration/calibration.h"

/* runs[n]: A, B, A, B, … in the order of execution; an odd last one is left out. Sets n, mean, relative_sd, seen
 * and floor. False when there are fewer than 2 of each, or the mean is 0: nothing relative can be said. */
bool noise_floor_of(const double *runs, size_t n, double confidence, struct noise_floor *out);

#endif

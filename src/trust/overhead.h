/* One row of a calibration from what its processes counted. */
#ifndef TARE_TRUST_OVERHEAD_H
#define TARE_TRUST_OVERHEAD_H

#include "store/calibration/calibration.h"

/* Fills n, mean, half_width, sd, median, least and most of values[n], one of each process. False for n = 0. */
bool overhead_summarise(const double *values, size_t n, double confidence, struct overhead *out);

#endif

/* Wu and Mencer's Figures 1 to 4 as one SVG file that works without a network. */
#ifndef TARE_REPORT_STUDY_FIGURES_H
#define TARE_REPORT_STUDY_FIGURES_H

#include <stdio.h>

#include "result/sampling_study.h"

/* Figure 1 is of programs[first], the others have a cluster of bars for each program without `why`, in their
 * order: a bar for each period, the shortest first. A value that does not exist has no bar. */
void report_study_figures(FILE *out, const struct studied_program *programs, size_t n, size_t first);

#endif

/* A table of costs as text. */
#ifndef TARE_REPORT_COSTS_H
#define TARE_REPORT_COSTS_H

#include "explain/costs.h"
#include "report/report.h"

void report_costs_text(FILE *out, const struct costs *costs, const struct report_options *options);

#endif

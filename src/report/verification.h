/* What tare verify found out about counters, for a reader and as JSON. */
#ifndef TARE_REPORT_VERIFICATION_H
#define TARE_REPORT_VERIFICATION_H

#include <stdio.h>

#include "report/report.h"
#include "result/verification.h"

/* options->verbose: also what was tested of each event. */
void report_verification_text(FILE *out, const struct verification *v, const struct report_options *options);
void report_verification_json(FILE *out, const struct verification *v);

/* "1 h 5 min", "40 s" */
void report_duration(char *out, size_t out_bytes, double seconds);

#endif

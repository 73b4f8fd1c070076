/* The report of `tare verify models`. */
#ifndef TARE_REPORT_MODELS_STUDY_H
#define TARE_REPORT_MODELS_STUDY_H

#include <stdio.h>

#include "report/report.h"
#include "result/models_study.h"

void report_models_text(FILE *out, const struct models_study *study, const struct report_options *options);
/* Each event, and each program's counts. */
void report_models_json(FILE *out, const struct models_study *study);

#endif

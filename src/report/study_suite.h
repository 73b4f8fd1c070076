/* The study of sampling over several programs (result/sampling_study.h) as text and JSON. */
#ifndef TARE_REPORT_STUDY_SUITE_H
#define TARE_REPORT_STUDY_SUITE_H

#include <stdio.h>

#include "report/report.h"
#include "result/sampling_study.h"

/* Of the options, colour and width count. */
void report_suite_text(FILE *out, const struct sampling_suite *suite, const struct report_options *options);
/* "version" is 1; within a version only keys are added. What is not known is null. */
void report_suite_json(FILE *out, const struct sampling_suite *suite);

#endif

/* Predicted counts (result/prediction.h) as text and JSON; a stream's troubles are the caller's. */
#ifndef TARE_REPORT_PREDICTION_H
#define TARE_REPORT_PREDICTION_H

#include <stdio.h>

#include "report/report.h"
#include "result/prediction.h"

/* Of the options, colour and width count. */
void report_prediction_text(FILE *out, const struct prediction *prediction, const char *file,
			    const struct report_options *options);
/* "version" is 1; within a version only keys are added. */
void report_prediction_json(FILE *out, const struct prediction *prediction, const char *file);

#endif

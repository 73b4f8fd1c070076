/* The study of sampling (result/sampling_study.h) as text and JSON; a stream's troubles are the caller's. */
#ifndef TARE_REPORT_STUDY_H
#define TARE_REPORT_STUDY_H

#include <stdio.h>

#include "report/json_writer.h"
#include "report/report.h"
#include "result/sampling_study.h"

/* Of the options, colour and width count. */
void report_study_text(FILE *out, const struct sampling_study *study, char *const *program,
		       const struct report_options *options);
/* "version" is 1; within a version only keys are added. What is not known is null. */
void report_study_json(FILE *out, const struct sampling_study *study, char *const *program);
/* Its keys, in an object that is open. */
void report_study_json_body(struct json *json, const struct sampling_study *study);

#endif

/* The results of several processes as one report (result/job.h): text, CSV, JSON (docs/job.schema.json). */
#ifndef TARE_REPORT_JOB_H
#define TARE_REPORT_JOB_H

#include <stdio.h>

#include "report/document.h"
#include "report/report.h"
#include "result/job.h"

/* How many digits numbers have: all; of least and most four, with a prefix ("11.99 G"); of all four. */
enum job_digits { JOB_ALL_DIGITS, JOB_SHORT_EXTREMES, JOB_SHORT };

/* per_rank: also a row for each member. */
void report_build_job(struct document *document, const struct job *job, bool per_rank, enum job_digits digits);
/* As many digits as the width has room for. */
void report_job_text(FILE *out, const struct job *job, bool per_rank, const struct report_options *options);
void report_job_csv(FILE *out, const struct job *job, bool per_rank);
void report_job_json(FILE *out, const struct job *job);

#endif

/* A paper's experiment, run again (result/paper_study.h), as text, page and JSON; a stream's troubles are the
 * caller's. */
#ifndef TARE_REPORT_PAPER_H
#define TARE_REPORT_PAPER_H

#include <stdio.h>

#include "report/report.h"
#include "result/paper_study.h"

/* Of the options, colour and width count. A table that is wider than that is told row by row. */
void report_paper_text(FILE *out, const struct paper_study *study, const struct report_options *options);
/* With the figures. */
void report_paper_html(FILE *out, const struct paper_study *study);
/* "version" is 1; within a version only keys are added. What is not known is null. */
void report_paper_json(FILE *out, const struct paper_study *study);

#endif

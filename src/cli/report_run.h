/* tare report RUN: a run that was kept, as it was shown. */
#ifndef TARE_CLI_REPORT_RUN_H
#define TARE_CLI_REPORT_RUN_H

#include <stdio.h>

#include "cli/profile_options.h"
#include "report/report.h"
#include "session/keep.h"

/* Does the word name a run? '@' begins one; else it does where there is no such file. */
bool report_is_run(const char *word);

/* What a run was shown with, and what is asked for besides. */
void report_options_of(const struct kept_run *run, struct report_options *options);
void report_show_of(const struct kept_run *run, struct show_request *show);

/* Writes a comparison that was kept; finishes `out`, likewise. */
int report_comparison(const struct kept_run *run, const struct comparison *comparison, enum show_format format,
		      struct report_options options, FILE *out, const char *name);

/* Writes a count's result, or that of one command of a comparison; finishes `out`. TARE_DONE, or what to exit
 * with; a message said why. */
int report_result(const struct kept_run *run, enum show_format format, struct report_options options, FILE *out,
		  const char *name);

#endif

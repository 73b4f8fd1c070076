/* A comparison as text, CSV, JSON, Markdown, and its gates as JUnit's XML. */
#ifndef TARE_REPORT_COMPARE_H
#define TARE_REPORT_COMPARE_H

#include <stdio.h>

#include "base/error.h"
#include "report/document.h"
#include "report/report.h"
#include "result/comparison.h"

void report_build_comparison(struct document *document, const struct comparison *comparison,
			     const struct report_options *options);
void report_comparison_text(FILE *out, const struct comparison *comparison, const struct report_options *options);
void report_comparison_csv(FILE *out, const struct comparison *comparison);
void report_comparison_json(FILE *out, const struct comparison *comparison);
/* For GITHUB_STEP_SUMMARY and merge requests: GitHub's tables. */
void report_comparison_markdown(FILE *out, const struct comparison *comparison);
/* As a page (html/html.h), with a drawing of the intervals. */
void report_comparison_html(FILE *out, const struct comparison *comparison, const struct report_options *options);
/* A test case for each gate and command, as GitLab, Jenkins and GitHub's actions read it: failed ones are
 * <failure>, undecided ones <error>. */
void report_comparison_junit(FILE *out, const struct comparison *comparison);

/* For a comparison that failed: these two files state the reason, so that a reader does not take them for a pass.
 * names: of the commands, the baseline first, as far as they are known; gates: their texts. Each gate of each
 * command is an <error>, under the name that it has when the comparison works. Without gates, one <error> stands
 * for the comparison. */
void report_failed_comparison_markdown(FILE *out, const struct error *error);
void report_failed_comparison_junit(FILE *out, const char *const *names, size_t n_names, const char *const *gates,
				    size_t n_gates, const struct error *error);

/* Shared by the writers. Words of a verdict: "less", "none seen; 0.4 % would be". */
/* The words, quoted where a shell would need it. */
void comparison_append_command(struct str *text, const char *const *command);
const char *comparison_verdict_text(struct document *document, const struct compared *compared);
/* "−5.55 ± 0.01 %"; NULL: there is none. In the row's unit where the baseline is 0. */
const char *comparison_difference_text(struct document *document, const struct compared *compared);
const char *gate_outcome_text(enum gate_outcome outcome); /* "passed", "FAILED", "cannot tell" */

#endif

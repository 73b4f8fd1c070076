/* Where a program's time goes (result/explanation.h) as text, JSON (docs/explanation.schema.json) and CSV. */
#ifndef TARE_REPORT_EXPLANATION_H
#define TARE_REPORT_EXPLANATION_H

#include "report/report.h"
#include "result/explanation.h"

void report_explanation_text(FILE *out, const struct explanation *e, const struct report_options *options);
void report_explanation_html(FILE *out, const struct explanation *e);
void report_explanation_json(FILE *out, const struct explanation *e);
/* A line for each cause, each of its events, and each place. */
void report_explanation_csv(FILE *out, const struct explanation *e);

/* `causes`: the order in which they are shown, the longest first; order[CAUSES]. Returns how many: those that
 * are not known, and those of no time, are not among them. */
size_t explanation_order(const struct explanation *e, enum cause *order);

#endif

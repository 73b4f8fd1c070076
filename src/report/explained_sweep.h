/* A program explained over a parameter (result/explained_sweep.h): the causes of each value stand on each
 * other, as in Zagha et al. 1996, Figures 4 to 7. As text, as a page, as JSON
 * (docs/explained-sweep.schema.json) and CSV. */
#ifndef TARE_REPORT_EXPLAINED_SWEEP_H
#define TARE_REPORT_EXPLAINED_SWEEP_H

#include "report/report.h"
#include "result/explained_sweep.h"

void report_sweep_text(FILE *out, const struct explained_sweep *sweep, const struct report_options *options);
void report_sweep_html(FILE *out, const struct explained_sweep *sweep);
void report_sweep_json(FILE *out, const struct explained_sweep *sweep);
/* As of one explanation, with a last column for the parameter's value. */
void report_sweep_csv(FILE *out, const struct explained_sweep *sweep);

#endif

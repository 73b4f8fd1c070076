/* What the reports of an explanation and of a sweep share: times and shares as cells, and what may be said
 * of sums. */
#ifndef TARE_REPORT_EXPLANATION_CELLS_H
#define TARE_REPORT_EXPLANATION_CELLS_H

#include "report/columns.h"
#include "report/document.h"
#include "result/explanation.h"

void explained_push(struct document *d, struct columns *columns, const struct columns_row *row);

/* The typical value; where there is none, a bound. */
double explained_time(const struct bounded *seconds);
/* "1.23 s", "45.6 ms", "7.89 µs", "12.3 ns": three digits; "-" of NAN. */
const char *explained_time_cell(struct document *d, double seconds);
/* Of a part of 1: "12 %", "1.2 %"; "-" of NAN. */
const char *explained_percent(struct document *d, double part);

/* Its events took place, and nothing says what one costs. Of the causes that a CPU waits for alone: a hit in the
 * first level is part of computing, and the kernel's work is beside the program's. */
bool explained_lacks_cost(const struct explanation *e, enum cause cause);
/* Is a cause without time that would belong to the sum? A measured whole has it: it is in the unexplained. */
bool explained_sum_lacks_costs(const struct explanation *e);

/* What shares are of: the measured time, or the sum of the causes. */
double explained_whole(const struct explanation *e);

/* The arguments, each word escaped. */
void explained_append_command(struct str *out, const char *const *command);

#endif

/* Derived metrics: formulas over events, rows of data/metrics/, with the error carried through.
 *
 *     [ipc]
 *     definition = Instructions retired per cycle.
 *     unit = instructions/cycle
 *     formula = instructions / cycles
 *     better = higher | lower | neither
 *     papers = perfex: graduated instructions/cycle
 *
 * Formula: + - * / ( ) numbers and event names (dashes belong to names: write spaces around minus).
 * A value with low and high is carried by first-order propagation for independent inputs (half-widths of
 * the partial derivatives' contributions added in quadrature, each side for itself); division by zero or
 * a missing input makes the metric "not counted" with its reason, never 0. */
#ifndef TARE_EVENT_METRIC_H
#define TARE_EVENT_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct metric_table;
struct metric; /* one parsed row */

struct metric_table *metric_table_new(struct error *err); /* embedded data/metrics/ */
void metric_table_free(struct metric_table *table);
bool metric_table_add(struct metric_table *table, const char *text, size_t length, const char *source,
		      struct error *err);
size_t metric_table_count(const struct metric_table *table);
const struct metric *metric_table_at(const struct metric_table *table, size_t index);
/* By name; an unknown one is an error with the three nearest. */
const struct metric *metric_find(const struct metric_table *table, const char *name, struct error *err);

const char *metric_name(const struct metric *m);
const char *metric_definition(const struct metric *m);
const char *metric_unit(const struct metric *m);
const char *metric_formula(const struct metric *m);
enum metric_better { BETTER_NEITHER, BETTER_HIGHER, BETTER_LOWER };
enum metric_better metric_better(const struct metric *m);
/* A remark printed with the value, such as why a rate may mislead; NULL when there is none. */
const char *metric_caution(const struct metric *m);

/* The event requests that the formula names, each once, in order of first use. */
size_t metric_event_count(const struct metric *m);
const char *metric_event(const struct metric *m, size_t index);

struct metric_input {
	bool known;
	double value, low, high; /* low <= value <= high */
};

/* inputs[metric_event_count(m)], in metric_event()'s order. On success fills *out; false with the
 * reason (ERROR_UNSUPPORTED) when an input is not known or a divisor is 0. */
bool metric_evaluate(const struct metric *m, const struct metric_input *inputs, struct metric_input *out,
		     struct error *err);

#endif

/* Drawings of an explanation, for a page: its causes, and those of its places, as bars whose parts are the
 * causes. */
#ifndef TARE_REPORT_EXPLANATION_FIGURE_H
#define TARE_REPORT_EXPLANATION_FIGURE_H

#include "report/document.h"
#include "result/explanation.h"

enum {
	EXPLAINED_UNEXPLAINED = CAUSES, /* the part above all causes: measured time that none has */
	EXPLAINED_PARTS,
	EXPLAINED_PLACES_DRAWN = 12
};

/* "memory", "unexplained" */
const char *explained_part_name(unsigned part);
/* By typical costs; 0 where nothing is known. */
double explained_part_seconds(const struct explanation *e, unsigned part);

/* The prefix in which numbers up to `most` seconds are shown. */
struct explained_unit {
	double factor; /* times seconds */
	const char *name;
};
struct explained_unit explained_unit_of(double most);

void explained_add_causes_figure(struct document *d, const struct explanation *e);
/* names: of the first n of e->places. */
void explained_add_places_figure(struct document *d, const struct explanation *e, const char *const *names,
				 size_t n);

#endif

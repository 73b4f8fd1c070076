/* Results in the formats of the papers' tools. As report/report.h's, they write to a stream and leave it to the
 * caller to find out, by file_finish(), whether all of it arrived. */
#ifndef TARE_COMPAT_REPORTS_H
#define TARE_COMPAT_REPORTS_H

#include <stdbool.h>
#include <stdio.h>

#include "event/event.h"
#include "result/result.h"

/* run_p5mon's report (Safford, Figures 4.2–4.4) and parseable file (Figures 4.7, 4.8). Intervals as the
 * thesis computed them (docs/closed-forms.md 2), and labelled as such in a '#'-free last line. */
struct p5mon_header {
	const char *parameter_file; /* "" when none */
	const char *arguments;      /* the -F arguments, joined by spaces */
	const char *directory;
	bool errata; /* the counts are those of the Pentium, with its errata */
};
void report_p5mon(FILE *out, const struct result *result, const struct event_table *table,
		  const struct p5mon_header *header, bool all_results);
void report_p5mon_file(FILE *out, const struct result *result, const struct event_table *table,
		       const struct p5mon_header *header, bool all_results);

/* perfex -y: what counts are multiplied with, and where it is from. */
struct costs;
struct perfex_costs {
	const struct costs *costs;
	const char *origin;
};
/* perfex's listing (Zagha, Appendix C): dotted lines, counter 0's events then counter 1's. costs: NULL without
 * -y. */
void report_perfex(FILE *out, const struct result *result, const struct perfex_costs *costs);

#endif

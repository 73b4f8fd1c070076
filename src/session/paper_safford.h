/* What the files of Safford's study share. */
#ifndef TARE_SESSION_PAPER_SAFFORD_H
#define TARE_SESSION_PAPER_SAFFORD_H

#include "session/paper_inside.h"

#define SAFFORD_MACHINE "model:pentium"
/* measurements, for the progress */
enum { SAFFORD_PROGRAMS = 3, SAFFORD_OVERHEADS = 3 };

/* An event of the Pentium, as the thesis prints it, and tare's. */
struct safford_event {
	const char *printed, *request;
	const char *shown; /* in tare's tables; NULL: as printed */
};

/* Counts of argv as paper_split() has them, by the Pentium. */
bool safford_split(struct paper_work *w, const char *name, const struct safford_event *events, size_t n,
		   const char *const *argv, const char *region, const char *function, struct paper_split *out);

/* Below a table: the events that are not counted, by reason. */
bool safford_uncounted(struct paper_work *w, const struct safford_event *events, size_t n,
		       const struct paper_split *counts);

bool safford_programs(struct paper_work *w);  /* Tables 5.5 to 5.8 */
bool safford_overheads(struct paper_work *w); /* Tables D.1 and D.2 */

#endif

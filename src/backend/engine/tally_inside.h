/* The parts of a tally; for the files of it only. */
#ifndef TARE_BACKEND_ENGINE_TALLY_INSIDE_H
#define TARE_BACKEND_ENGINE_TALLY_INSIDE_H

#include "backend/engine/tally.h"
#include "engine/inject/injection.h"

/* A thread of a process and the row that it is in: one of a part that goes on is in the row of the part before. */
struct seat {
	const struct view_thread *thread;
	struct tally_row *row;
};

/* to += times × each; what does not fit makes the tally inexact. */
void tally_add(struct tally *t, uint64_t *to, uint64_t times, uint64_t each);

/* right: the tally was exact before a region's count was added to. What went wrong since then is the regions', not
 * the whole's. */
void tally_of_region(struct tally *tally, struct execution_regions *regions, bool right);

/* Why no count of the access stream can be used; the first reason stays. */
__attribute__((format(printf, 2, 3))) void tally_mark_models(struct tally *t, const char *format, ...);

/* Distinct code lines and pages of all parts of a process, into the totals. */
bool tally_code(struct tally *t, const struct view_process *head, struct error *err);

/* What the models counted: of each thread (seats) into its row, of the rows into the whole, and the access
 * stream's own counts. All of it is checked by the instructions that were counted; the rows are complete but for
 * this. */
void tally_models(struct tally *t, const struct tally_options *options, const struct seat *seats, size_t n_seats);

#endif

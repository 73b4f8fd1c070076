#include "backend/exact/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/exact/syscalls.h"
#include "backend/exact/tally.h"

const struct fold_totals *fold_totals_of(const struct view_process *p, bool *damaged)
{
	const struct fold_totals *totals = p->totals;
	*damaged = totals && (p->totals_bytes < sizeof *totals || totals->n_rows > FOLD_ROWS_MOST ||
	                      p->totals_bytes < sizeof *totals + totals->n_rows * sizeof *totals->rows ||
	                      !memchr(totals->unknown_text, 0, sizeof totals->unknown_text));
	return *damaged ? NULL : totals;
}

/* The tally of the part has the rows of the totals before it already. */
static struct fold_totals *totals_of(const struct view *view, const struct tally *tally, size_t *bytes, char why[160])
{
	size_t n = tally->n_rows < FOLD_ROWS_MOST ? tally->n_rows : FOLD_ROWS_MOST;
	*bytes = sizeof(struct fold_totals) + n * sizeof(struct fold_row);
	struct fold_totals *totals = calloc(1, *bytes);
	if (!totals)
		return NULL;
	totals->n_rows = (uint32_t)n;
	for (size_t i = 0; i < tally->n_rows; i++) {
		struct fold_row *row = &totals->rows[i < n ? i : n - 1];
		if (i < n)
			row->tid = tally->rows[i].tid;
		row->folded += tally->rows[i].folded + (i >= n);
		for (size_t c = 0; c < COUNTS; c++)
			if (__builtin_add_overflow(row->count[c], tally->rows[i].count[c], &row->count[c]))
				snprintf(why, 160, "a count does not fit in 64 bits");
	}
	for (size_t c = 0; c < COUNTS; c++)
		totals->unknown[c] = tally->unknown[c] != NULL;
	snprintf(totals->unknown_text, sizeof totals->unknown_text, "%s", tally->unknown_text);
	for (size_t i = 0; i < view->n_processes; i++) /* the part's, and the totals of the one before it */
		if (view->processes[i].loaded || view->processes[i].totals)
			syscalls_sum(&view->processes[i], totals->calls);
	return totals;
}

bool fold_part(const struct session *session, uint32_t index, void **out, size_t *bytes, char why[160])
{
	struct tally_options options = {.children = true, .part = true};
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct error err = {0};
	*out = NULL;
	if (view_part(session, index, &view, &err) && tally_new(view, &options, &tally, &err)) {
		if (tally->why)
			snprintf(why, 160, "%.150s", tally->why);
		*out = totals_of(view, tally, bytes, why);
	}
	tally_free(tally);
	view_free(view);
	return *out != NULL;
}

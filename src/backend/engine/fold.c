#include "backend/engine/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/locations.h"
#include "backend/engine/regions.h"
#include "backend/engine/syscalls.h"
#include "backend/engine/tally.h"

static uint64_t bytes_of(const struct fold_totals *t)
{
	return sizeof *t + t->n_rows * sizeof *t->rows + t->n_regions * sizeof(struct fold_region) +
	       (uint64_t)t->n_rows * t->n_machines * sizeof(struct model_counts) +
	       t->n_places * (sizeof(struct fold_place) + t->n_events * 8) + t->text_bytes;
}

const struct fold_totals *fold_totals_of(const struct view_process *p, bool *damaged)
{
	const struct fold_totals *totals = p->totals;
	*damaged = totals && (p->totals_bytes < sizeof *totals || totals->n_rows > FOLD_ROWS_MOST ||
			      totals->n_regions > RECORD_REGIONS_MOST || totals->n_machines > FOLD_MACHINES_MOST ||
			      totals->n_events > FOLD_EVENTS_MOST || totals->n_places > 1ull << 40 ||
			      totals->text_bytes > 1ull << 40 || p->totals_bytes < bytes_of(totals) ||
			      !memchr(totals->unknown_text, 0, sizeof totals->unknown_text));
	return *damaged ? NULL : totals;
}

const struct fold_region *fold_regions_of(const struct fold_totals *totals)
{
	return (const struct fold_region *)(totals->rows + totals->n_rows);
}

const struct model_counts *fold_models_of(const struct fold_totals *totals)
{
	return (const struct model_counts *)(fold_regions_of(totals) + totals->n_regions);
}

const struct fold_place *fold_places_of(const struct fold_totals *totals)
{
	return (const struct fold_place *)(fold_models_of(totals) + (size_t)totals->n_rows * totals->n_machines);
}

const uint64_t *fold_place_counts_of(const struct fold_totals *totals)
{
	return (const uint64_t *)(fold_places_of(totals) + totals->n_places);
}

const char *fold_place_module(const struct fold_totals *totals, const struct fold_place *place)
{
	const char *text = (const char *)(fold_place_counts_of(totals) + totals->n_places * totals->n_events);
	return place->module < totals->text_bytes &&
			       memchr(text + place->module, 0, totals->text_bytes - place->module)
		       ? text + place->module
		       : NULL;
}

/* Modules' names are the same pointers where they are the same: one after the other, once unless they
 * alternate. */
static uint64_t places_to(const struct locations *places, struct fold_totals *out, char *text)
{
	const char *last = NULL;
	uint64_t bytes = 0, at = 0;
	for (size_t i = 0; i < places->n; i++) {
		const struct location *l = &places->all[i];
		if (l->module != last) {
			size_t length = strlen(l->module) + 1;
			if (text)
				memcpy(text + bytes, l->module, length);
			at = bytes, last = l->module;
			bytes += length;
		}
		if (!out)
			continue;
		((struct fold_place *)fold_places_of(out))[i] = (struct fold_place){at, l->offset, l->pid};
		memcpy((uint64_t *)fold_place_counts_of(out) + i * places->n_events, l->counts,
		       places->n_events * sizeof *l->counts);
	}
	return bytes;
}

/* What was counted in the regions of the part's process. Returns how many of them; out: NULL, or where they go. */
static uint32_t regions_to(const struct execution_regions *regions, const struct view_process *p,
			   struct fold_region *out, bool *taken)
{
	static const uint64_t none[COUNTS];
	uint32_t n = 0;
	memset(taken, 0, regions->n * sizeof *taken);
	for (uint32_t local = 0; local < regions_local_count(regions, p); local++) {
		size_t index = regions_index(regions, p, local);
		if (taken[index] || !memcmp(regions->all[index].count, none, sizeof none))
			continue; /* two may be of one name */
		taken[index] = true;
		if (out) {
			out[n].local = local;
			memcpy(out[n].count, regions->all[index].count, sizeof out[n].count);
			memcpy(out[n].alone, regions->all[index].alone, sizeof out[n].alone);
		}
		n++;
	}
	return n;
}

/* The tally of the part has the rows of the totals before it already, and so have the regions. */
static struct fold_totals *totals_of(const struct view *view, const struct tally *tally,
				     const struct execution_regions *regions, uint32_t index, size_t *bytes,
				     size_t machines, const struct locations *places, char why[160])
{
	struct fold_totals head = {
		.n_machines = (uint32_t)machines, .n_places = places->n, .n_events = places->n_events};
	const struct view_process *p = &view->processes[index];
	bool *taken = calloc(regions->n + 1, sizeof *taken);
	if (!taken)
		return NULL;
	uint32_t n_regions = regions_to(regions, p, NULL, taken);
	size_t n = tally->n_rows < FOLD_ROWS_MOST ? tally->n_rows : FOLD_ROWS_MOST;
	head.n_rows = (uint32_t)n;
	head.n_regions = n_regions;
	head.text_bytes = places_to(places, NULL, NULL);
	*bytes = bytes_of(&head);
	struct fold_totals *totals = calloc(1, *bytes);
	if (!totals) {
		free(taken);
		return NULL;
	}
	*totals = head;
	places_to(places, totals, (char *)(fold_place_counts_of(totals) + head.n_places * head.n_events));
	regions_to(regions, p, (struct fold_region *)(totals->rows + n), taken);
	free(taken);
	if (regions->why)
		snprintf(why, 160, "%.150s", regions->why);
	struct model_counts *models = (struct model_counts *)fold_models_of(totals);
	for (size_t i = 0; i < tally->n_rows; i++) {
		struct fold_row *row = &totals->rows[i < n ? i : n - 1];
		if (i < n)
			row->tid = tally->rows[i].tid;
		row->folded += tally->rows[i].folded + (i >= n);
		for (size_t c = 0; c < COUNTS; c++)
			if (__builtin_add_overflow(row->count[c], tally->rows[i].count[c], &row->count[c]))
				snprintf(why, 160, "a count does not fit in 64 bits");
		if (machines &&
		    !tally_add_models(&models[(i < n ? i : n - 1) * machines], tally->rows[i].models, machines))
			snprintf(why, 160, "a count does not fit in 64 bits");
	}
	for (size_t c = 0; c < COUNTS; c++)
		totals->unknown[c] = tally->unknown[c] != NULL;
	snprintf(totals->unknown_text, sizeof totals->unknown_text, "%s",
		 tally->strange_text[0] ? tally->strange_text : tally->unknown_text);
	for (size_t i = 0; i < view->n_processes; i++) /* the part's, and the totals of the one before it */
		if (view->processes[i].loaded || view->processes[i].totals)
			syscalls_sum(&view->processes[i], 0, &totals->calls);
	return totals;
}

bool fold_part(const struct injection *injection, uint32_t index, void **out, size_t *bytes, char why[160])
{
	const struct record_head *record = injection_record(injection);
	uint32_t machines = !(record->flags & RECORD_TRACE) ? 0
			    : record->machine_count         ? record->machine_count
							    : 1;
	struct tally_options options = {.children = true,
					.part = true,
					.machines = machines < FOLD_MACHINES_MOST ? machines : FOLD_MACHINES_MOST};
	const struct fold_context *wanted = injection_fold_context(injection);
	struct locations places = {0};
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct error err = {0};
	*out = NULL;
	if (view_part(injection, index, &view, &err) &&
	    regions_new(view, record->region_count, true, 0, &options.regions, &err) &&
	    tally_new(view, &options, &tally, &err) &&
	    (!wanted || locations_fill(wanted->plan, view, true, wanted->inside ? options.regions : NULL,
				       wanted->events, wanted->n, &places, &err))) {
		if (tally->why || tally->models_why)
			snprintf(why, 160, "%.150s", tally->why ? tally->why : tally->models_why);
		*out = totals_of(view, tally, options.regions, index, bytes, options.machines, &places, why);
	}
	locations_free(&places);
	tally_free(tally);
	regions_free(options.regions);
	view_free(view);
	return *out != NULL;
}

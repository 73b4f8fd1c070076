/* Files of profiles of any content, without the checksums that no mutation would get right: no crash; a refusal has a
 * text and leaves nothing behind; what is taken keeps what result/profile.h says of a profile. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/merge.h"
#include "result/profile.h"
#include "store/profile/profile_file.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_places(const struct profile *p)
{
	check(p->n_nodes >= 1 && p->nodes[0].parent == 0, "there is no root");
	for (size_t i = 1; i < p->n_nodes; i++)
		check(p->nodes[i].parent < i && p->nodes[i].module < p->n_modules,
		      "a node before its parent, or without a module");
	for (size_t i = 0; i < p->n_modules; i++)
		check(p->modules[i].path && p->modules[i].kind <= MODULE_UNKNOWN &&
			      p->modules[i].build_id_bytes <= 20,
		      "half a module");
	for (size_t i = 0; i < p->n_tasks; i++)
		check(p->tasks[i].name != NULL, "a task without a name");
	for (size_t i = 0; i < p->n_arcs; i++)
		check((p->arcs[i].caller_module < p->n_modules || p->arcs[i].caller_module == PROFILE_NO_CALLER) &&
			      p->arcs[i].callee_module < p->n_modules && p->arcs[i].inclusive,
		      "half an arc");
}

static void check_counts(const struct profile *p)
{
	uint64_t *sums = calloc(p->n_events + 1, sizeof *sums);
	check(sums != NULL, "no memory");
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i], *before = i ? c - 1 : NULL;
		check(c->node && c->node < p->n_nodes && c->task < p->n_tasks && c->event < p->n_events &&
			      c->count,
		      "a cell of nothing");
		check(!before || before->node < c->node ||
			      (before->node == c->node &&
			       (before->task < c->task || (before->task == c->task && before->event < c->event))),
		      "cells are not in order, or twice there");
		sums[c->event] += c->count;
	}
	for (size_t i = 0; i < p->n_events; i++) {
		const struct profile_event *e = &p->events[i];
		check(e->label && e->unit && e->gaps <= GAPS_RATE, "half an event");
		if (e->gaps != GAPS_NONE)
			check(sums[i] == e->samples, "cells are not as many as samples");
		else
			check(e->why || (e->has_total && sums[i] == e->total),
			      "counts are not the total, and nothing says why");
	}
	free(sums);
}

/* Runs that stand one after another, as one profile. */
static void check_runs(const uint8_t *data, size_t size)
{
	struct profile *runs[4], *all;
	size_t n = 0;
	struct error err = {0};
	while (size && n < sizeof runs / sizeof *runs) {
		size_t length = profile_file_run(data, size);
		check(length > 0 && length <= size, "a run of more bytes than there are, or of none");
		if (!profile_file_parse(data, length, "profile", false, NULL, &runs[n], &err))
			break;
		n++;
		data += length;
		size -= length;
	}
	if (n && profile_merge((const struct profile *const *)runs, n, &all, &err)) {
		check(all->n_runs == n, "a run is not there");
		check_places(all);
		check_counts(all);
		profile_free(all);
		free(all);
	}
	while (n > 0) {
		profile_free(runs[--n]);
		free(runs[n]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct profile_read_options part = {.from_ns = 1000, .to_ns = 3000};
	for (int i = 0; i < 3; i++) {
		struct profile *p = NULL;
		struct error err = {0};
		if (profile_file_parse(data, size, "profile", i == 2, i == 1 ? &part : NULL, &p, &err)) {
			check_places(p);
			check_counts(p);
			profile_free(p);
			free(p);
		} else {
			check(err.code != ERROR_NONE && err.text[0] && !p,
			      "refused without a reason, or something is left");
		}
	}
	check_runs(data, size);
	return 0;
}

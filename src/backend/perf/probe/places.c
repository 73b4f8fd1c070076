#include "backend/perf/probe/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/perf/trial/answers.h"

/* The kernel reads a group at once, into a record that may have 16 kB (perf_event_validate_size()). */
enum { PROBES_MOST = 500 };

struct placed {
	const struct region_edge *edge;
	struct edge_ref ref;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = strcmp(x->edge->module, y->edge->module);
	if (order)
		return order;
	if (x->edge->offset != y->edge->offset)
		return x->edge->offset < y->edge->offset ? -1 : 1;
	/* at the same instruction a pass ends before the next one begins; but a function that is nothing but its
	 * return begins and ends there */
	bool last_x = x->edge->kind == EDGE_LEAVE && x->edge->own,
	     last_y = y->edge->kind == EDGE_LEAVE && y->edge->own;
	if (last_x != last_y)
		return last_x ? 1 : -1;
	if (x->edge->kind != y->edge->kind)
		return x->edge->kind > y->edge->kind ? -1 : 1;
	return x->ref.region < y->ref.region ? -1 : x->ref.region > y->ref.region;
}

bool probe_places_find(const struct region_asked *asked, size_t n_asked, struct probe_places *out,
		       struct error *err)
{
	size_t n = 0, at = 0;
	*out = (struct probe_places){0};
	for (size_t i = 0; i < n_asked; i++) {
		if (asked[i].no_edges) {
			error_set(err, ERROR_UNSUPPORTED, "cannot count region '%s' with probes: %s",
				  asked[i].name, asked[i].no_edges);
			return error_hint(err, "--on exact counts it");
		}
		n += asked[i].n_edges;
	}
	struct placed *all = calloc(n + 1, sizeof *all);
	out->refs = calloc(n + 1, sizeof *out->refs);
	out->all = calloc(n + 1, sizeof *out->all);
	if (!all || !out->refs || !out->all) {
		free(all);
		return error_no_memory(err);
	}
	for (size_t i = 0; i < n_asked; i++)
		for (size_t j = 0; j < asked[i].n_edges; j++)
			all[at++] = (struct placed){&asked[i].edges[j], {(uint32_t)i, (uint32_t)j}};
	qsort(all, n, sizeof *all, by_place);
	for (size_t i = 0; i < n; i++) {
		struct probe_place *last = out->n ? &out->all[out->n - 1] : NULL;
		if (!last || last->offset != all[i].edge->offset ||
		    strcmp(last->module, all[i].edge->module) != 0) {
			last = &out->all[out->n++];
			*last = (struct probe_place){.module = all[i].edge->module,
						     .offset = all[i].edge->offset,
						     .edges = &out->refs[i]};
		}
		last->all_registers |= all[i].edge->kind == EDGE_JUMP;
		out->refs[i] = all[i].ref;
		last->n_edges++;
	}
	free(all);
	if (out->n <= PROBES_MOST)
		return true;
	error_set(err, ERROR_LIMIT, "the regions begin and end at %zu places, and %d can be probed", out->n,
		  PROBES_MOST);
	return error_hint(err, "ask for fewer regions at once, or count with --on exact");
}

void probe_places_free(struct probe_places *places)
{
	free(places->all);
	free(places->refs);
	*places = (struct probe_places){0};
}

bool uprobe_type(uint32_t *type, struct error *err)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	bool read = file && fscanf(file, "%u", type) == 1;
	struct error silent;
	if (file)
		fclose(file);
	if (read && tracing_answers(&silent))
		return true;
	if (read) {
		error_set(err, silent.code, "cannot use probes: %s", silent.text);
		return error_hint(err, "%s", silent.hint);
	}
	error_set(err, ERROR_UNSUPPORTED, "cannot count regions with probes: this kernel has no uprobes");
	return error_hint(err, "count with --on exact, or use a kernel with CONFIG_UPROBE_EVENTS");
}

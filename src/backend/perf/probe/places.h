/* Where regions are probed: each instruction at which any of them begins or ends, once. */
#ifndef TARE_BACKEND_PERF_PROBE_PLACES_H
#define TARE_BACKEND_PERF_PROBE_PLACES_H

#include "backend/perf/probe/group.h"

struct probe_places {
	struct probe_place *all;
	size_t n;
	struct edge_ref *refs; /* of all places */
};

/* On success *out is the caller's, to be freed by probe_places_free(), which is also needed after a failure.
 * ERROR_UNSUPPORTED, ERROR_LIMIT: a region cannot be probed, or there are too many places. asked is borrowed as
 * long as *out is used. */
bool probe_places_find(const struct region_asked *asked, size_t n_asked, struct probe_places *out,
		       struct error *err);
void probe_places_free(struct probe_places *places);

/* The kernel's type number of the uprobe PMU, where probes can be used. */
bool uprobe_type(uint32_t *type, struct error *err);

#endif

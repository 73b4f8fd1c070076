/* Regions of a program that is started: tare's side of region_follow.h. */
#ifndef TARE_BACKEND_PERF_REGIONS_H
#define TARE_BACKEND_PERF_REGIONS_H

#include "backend/backend.h"
#include "backend/perf/region_group.h"

struct probed;

struct region_bias {
	bool tried;
	unsigned classes; /* for which it was */
	struct probe_bias bias;
};

/* What is counted of the program's events; those without an encoding say why. */
struct region_event {
	const struct event_encoding *encoding; /* NULL: not counted */
	unsigned levels;
	enum source source;
	double scale;
	bool instructions; /* of a hardware counter, at user level: what probes do to it can be known */
	const char *why;
};

/* bias: what probes do to instructions; found by trial where it is not known yet, and kept for the next time.
 * The program is held before its exec. On failure *out is NULL. What events points to must outlive *out. */
bool probed_begin(const struct target *target, pid_t program, const struct region_event *events, size_t n, struct region_bias *bias,
		   struct probed **out, struct error *err);
/* Fills run->regions. */
bool probed_stop(struct probed *regions, struct run *run, struct error *err);
void probed_end(struct probed *regions); /* NULL is accepted */

#endif

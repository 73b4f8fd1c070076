/* Regions of a program that is started: tare's side of follow.h. */
#ifndef TARE_BACKEND_PERF_PROBE_REGIONS_H
#define TARE_BACKEND_PERF_PROBE_REGIONS_H

#include "backend/backend.h"
#include "backend/perf/probe/group.h"
#include "backend/perf/probe/kept.h"
#include "backend/perf/probe/trial.h"

struct probed;

enum { COSTS_KEPT = 32, GROUPS_KEPT = 16 };

/* What traps cost in the events of one group of so many probes. */
struct region_costs {
	size_t n_events, n_probes; /* 0 events: none are kept */
	struct event_encoding encodings[COSTS_KEPT];
	unsigned levels[COSTS_KEPT];
	struct trap_cost costs[COSTS_KEPT], ns;
};

struct kept_costs { /* costs.h */
	struct region_costs groups[GROUPS_KEPT];
	size_t next;
};

/* What one execution leaves for the next. */
struct region_bias {
	struct kept_probes probes;
	struct kept_costs costs;
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
	/* or cycles, or the kernel's part of what the hardware counts: a trap is nearly all that a trial of it
	 * counts */
	bool time;
	bool instructions; /* of a hardware counter, at user level: what probes do to it can be known */
	const char *why;
};

/* bias: what probes do to instructions; found by trial where it is not known yet, and kept for the next time.
 * The program is held before its exec. On failure *out is NULL. What events points to must outlive *out. */
bool probed_begin(const struct target *target, pid_t program, const struct region_event *events, size_t n,
		  struct region_bias *bias, struct probed **out, struct error *err);
/* Fills run->regions and run->probes_ns, and what the probes cost in the whole program's readings[events]. */
bool probed_stop(struct probed *regions, struct run *run, struct error *err);
void probed_end(struct probed *regions);         /* NULL is accepted */
void region_bias_free(struct region_bias *bias); /* NULL is accepted */

#endif

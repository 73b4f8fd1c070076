/* Regions of a program that is started: tare's side of region_follow.h. */
#ifndef TARE_BACKEND_PERF_REGIONS_H
#define TARE_BACKEND_PERF_REGIONS_H

#include "backend/backend.h"
#include "backend/perf/region_group.h"

struct regions;

/* What is counted of the program's events; those without an encoding say why. */
struct region_event {
	const struct event_encoding *encoding; /* NULL: not counted */
	unsigned levels;
	enum source source;
	double scale;
	const char *why;
};

/* The program is held before its exec. On failure *out is NULL. What events points to must outlive *out. */
bool regions_begin(const struct target *target, pid_t program, const struct region_event *events, size_t n, struct regions **out,
		   struct error *err);
/* Fills run->regions. */
bool regions_stop(struct regions *regions, struct run *run, struct error *err);
void regions_end(struct regions *regions); /* NULL is accepted */

#endif

/* What `tare calibrate` measures: with which events, how often, and the rows of a calibration that come of it. */
#ifndef TARE_TRUST_MEASURE_H
#define TARE_TRUST_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/backend.h"
#include "base/vec.h"
#include "event/event.h"
#include "store/calibration/calibration.h"

struct calibrated_event {
	struct event event;
	bool constant; /* its overhead is subtracted */
	bool hardware;
};

/* Why an interface has no row for an event; event NULL: for none. */
struct not_calibrated {
	enum interface interface;
	const char *event, *why;
};

struct calibrating {
	struct event_table *table;                   /* these three are the caller's */
	const struct backend_operations *operations; /* of perf */
	struct backend *backend;
	VEC(struct calibrated_event) events;
	VEC(struct not_calibrated) missing; /* texts in calibration.arena */
	size_t processes;                   /* of each row */
	size_t floor_runs;                  /* on each side of the A/A run */
	bool wanted[INTERFACES];
	struct calibration calibration;
	/* says how far it is; done of all are rounds of the part */
	void (*progress)(void *context, const char *part, size_t done, size_t all);
	void *progress_context;
};

/* Chooses the events: those of the list, or when it is NULL the default ones that count here. */
bool calibrating_begin(struct calibrating *c, const char *list, struct error *err);
void calibrating_end(struct calibrating *c);

/* Adds the command's rows: of `empty`, less what it does itself. */
bool calibrate_command(struct calibrating *c, struct error *err);

/* Adds the rows of the library's interfaces that are wanted, and their fits (measure_regions.c). */
bool calibrate_regions(struct calibrating *c, struct error *err);

/* Adds the noise floors: argv is executed 2 × floor_runs times. */
bool calibrate_floor(struct calibrating *c, char *const *argv, struct error *err);

bool not_calibrated(struct calibrating *c, enum interface interface, const char *event, const char *why,
		    struct error *err);

#endif

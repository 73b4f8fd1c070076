/*
 * What remains of finished parts of a process (engine/wire/record.h, 5): counts by thread, the models' too, system
 * calls by number, and, if places were asked for, counts by place.
 *
 * What always holds: a set of totals is of one part and of all that it continues; what cannot be known without
 * their blocks (distinct code, leaders that are still to come) is not in it, and the tally says so.
 */
#ifndef TARE_BACKEND_ENGINE_FOLD_H
#define TARE_BACKEND_ENGINE_FOLD_H

#include <stdint.h>

#include "backend/engine/syscalls.h"
#include "engine/x86/vector.h"
#include "engine/inject/injection.h"
#include "engine/inject/view.h"
#include "model/core/counts.h"

#define FOLD_ROWS_MOST 4096u /* threads beyond are in the last row */
#define FOLD_MACHINES_MOST 64u
#define FOLD_EVENTS_MOST 4096u

struct fold_row {
	uint32_t tid, folded;
	uint64_t count[COUNTS];
};

struct fold_region {
	uint32_t local, unused; /* the number that the process's record of regions gives it */
	uint64_t count[COUNTS];
	uint64_t alone[COUNTS]; /* 0 unless that is asked for */
};

struct fold_place {      /* an instruction */
	uint64_t module; /* where its name begins in the text */
	uint64_t offset;
	uint64_t pid; /* as in struct location */
};

struct location_plan;
struct execution_event;
struct fold_context { /* injection_options.fold_context: the places that are wanted */
	const struct location_plan *plan;
	const struct execution_event *events;
	size_t n;
	bool inside; /* of the regions that were asked for alone */
};

struct fold_totals {
	uint32_t n_rows, n_regions;
	uint32_t n_machines, unused;
	uint8_t unknown[COUNTS]; /* 1: the count is not known, see text */
	char unknown_text[320];
	struct syscall_sums calls;
	uint64_t n_places, n_events, text_bytes; /* n_events 0: nobody asked for places */
	/* [n_rows]; then struct fold_region [n_regions], struct model_counts [n_rows][n_machines], struct
	 * fold_place [n_places], uint64_t [n_places][n_events], their modules' names */
	struct fold_row rows[];
};

injection_fold fold_part;

/* The totals of a folded part, checked; NULL when it has none (they moved on) or they are damaged: *damaged. */
const struct fold_totals *fold_totals_of(const struct view_process *p, bool *damaged);
const struct fold_region *fold_regions_of(const struct fold_totals *totals);
/* Of all rows, one after the other; n_machines each. */
const struct model_counts *fold_models_of(const struct fold_totals *totals);
const struct fold_place *fold_places_of(const struct fold_totals *totals);
const uint64_t *fold_place_counts_of(const struct fold_totals *totals);
/* NULL: damaged */
const char *fold_place_module(const struct fold_totals *totals, const struct fold_place *place);

#endif

/* One execution (or one window of an attached measurement) under one group of events.
 *
 *     prepare ──► go ──► wait, reading multiplexed counters every slice ──► stop
 *
 * 1. The execution's struct run is complete when execution_run() is true, whatever became of the program.
 * 2. Slices are kept for groups that do not fit only. Their number is bounded: when SLICES_MOST is reached,
 *    neighbours are joined and the time between reads doubles. Intervals (intervals.h) are told and not kept. */
#ifndef TARE_MEASURE_EXECUTION_H
#define TARE_MEASURE_EXECUTION_H

#include "backend/backend.h"
#include "base/str.h"
#include "measure/control.h"
#include "measure/intervals.h"
#include "measure/streams.h"
#include "measure/waiting.h"
#include "result/result.h"
#include "stats/stats.h"

enum { SLICES_MOST = 2048 };

/* How one event's counter was read over the execution: cumulative readings become differences. */
struct slices {
	struct slice *items;
	size_t count;
	struct slice before; /* the last cumulative reading */
};

/* The hypervisor's account as it was read last: /proc/stat takes the kernel as long as a short program. */
struct steal {
	uint64_t ns, read_at_ns; /* read_at_ns 0: not yet */
};

struct execution {
	const struct backend_operations *operations;
	struct backend *backend;
	const struct target *target; /* with the command's streams already set */
	const struct event *const *events;
	size_t n_events;
	uint64_t slice_ns; /* 0: counters need not be read on the way */
	uint64_t delay_ns;
	uint64_t timeout_ns;
	struct steal *steal; /* NULL: not wanted */
	bool want_blocks;
	enum blocks_by blocks_by;
	bool want_system_calls, want_inputs;
	enum locations_of want_locations;
	struct streams *streams; /* trimmed on the way when `silent` */
	bool silent;
	struct waiter *waiter;
	struct intervals intervals; /* tell NULL: not wanted */
	struct switching control;

	/* what it gave */
	struct run run;
	struct slices *slices;           /* n_events, or NULL */
	struct str inputs;               /* when wanted, of an engine's, where the backend knows them */
	struct str blocks, system_calls; /* when wanted, and the execution was an engine's … */
	struct error no_blocks;          /* … or why there are none */
	struct locations locations;      /* likewise: n_events is 0 when there are none … */
	struct error no_locations;       /* … and why */
	bool still_running;              /* the user interrupted, or time ran out, and the program did not end */
	bool timed_out;                  /* it ended, or did not, after timeout_ns */
	bool status_lost;

	/* inside */
	struct counting *counting;
	struct reading *so_far;
	size_t n_slices;
	bool reading_failed;
	struct error control_failed; /* its code is 0: it did not */
	uint64_t next_slice, slice_every, next_trim;
};

/* False when the program could not be started or counted: nothing is left behind then. */
bool execution_run(struct execution *x, struct error *err);

/* Frees what execution_run() stored. */
void execution_free(struct execution *x);

#endif

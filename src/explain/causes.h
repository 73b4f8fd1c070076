/*
 * Time by cause: counts × costs (perfex -y; Zagha et al. 1996, Figures 2, 4, 5 and 8), compared with the measured
 * time.
 *
 *     seconds of a cause = Σ over its parts: count of the event × cost of the operation
 *
 * "Component times were estimated by multiplying event counts by a typical event cost, assuming no overlap between
 * events" (Figure 4). An out-of-order core overlaps them: then the sum is above the measured time, and the report
 * says so. Nothing is scaled to fit.
 *
 * What always holds: as result/explanation.h says. These functions run nothing and read no clock. */
#ifndef TARE_EXPLAIN_CAUSES_H
#define TARE_EXPLAIN_CAUSES_H

#include "base/error.h"
#include "base/str.h"
#include "explain/costs.h"
#include "result/explanation.h"

/* The events that a machine of so many cache levels (1 to 3) with these costs (NULL: none) is asked for, as -e has
 * them; appended. */
void causes_events(unsigned levels, const struct costs *costs, struct str *out);

/* A process's memory by the last look at it. Pages that were only read have no memory of their own, as the kernel
 * maps its page of zeroes: they are mapped, but not resident. */
struct memory_seen {
	double faults;              /* minor ones until then; NAN: nobody looked */
	double resident_most_bytes; /* at once, until then */
	double tables_bytes; /* what page tables can map, at most at any look; they are made by first touches */
	double mapped_most_bytes; /* addresses at once, until then, touched or not */
};

/* How threads spent the time of one execution (session/native.h). */
struct native_times {
	double elapsed_s, user_s, system_s;
	double not_running_s; /* ready, but on no CPU; NAN: the kernel does not say */
	double page_faults;   /* minor ones */
	double major_faults;
	size_t threads_most;
	struct memory_seen memory; /* of the first process, by the last look at it */
	bool several_processes;
	/* looks at the threads, by what a thread waited for; dt: seconds that the looks stand for */
	uint64_t looks, running, waits[CAUSES];
	double dt_waiting; /* thread-seconds in which a thread waited */
	bool no_calls;     /* what was waited for could not be read */
};

/* Fills in e->causes, sums, unexplained and overlap from e->result, the costs and the times (NULL: nothing was
 * measured). costs NULL: there are none, and e->why_no_costs says why. */
bool causes_explain(struct explanation *e, unsigned levels, const struct costs *costs,
		    const struct native_times *native, struct error *err);

#endif

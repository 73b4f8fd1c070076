/* Measuring: passes over groups of events, repetitions, warm-up, interrupts, and the estimates at the end.
 *
 * 1. A plain measurement executes the program once, whatever was asked for: events that do not fit the
 *    counters are multiplexed and come out `scaled`, with an interval.
 * 2. With repetitions >= 2 or several_runs, events are split into groups that fit, one execution per
 *    group and repetition after a warm-up that is not counted, and nothing is scaled (run_p5mon's way:
 *    executions = passes × repetitions, the warm-ups apart).
 * 3. What was measured before an interrupt or a failure is in the result.
 * 4. OUTPUT_FIRST shows the first execution of all: the warm-up where there is one. So it appears at once, and
 *    the counted runs are all alike: each writes to a file in memory (streams.h), none to a terminal.
 *    OUTPUT_ALL also shows the warm-ups. Standard error goes the way of standard output.
 * 5. A program that was asked to end (see `interrupt`) has 2 s for it; then it is left running, a note says so,
 *    and result->wait_status is that of a death by that signal. Without a program and without delay_ns an
 *    interrupt is the normal end: result->interrupted stays false. */
#ifndef TARE_MEASURE_MEASURE_H
#define TARE_MEASURE_MEASURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "event/event.h"
#include "event/metric.h"
#include "measure/control.h"
#include "measure/intervals.h"
#include "result/result.h"

enum program_output { OUTPUT_FIRST, OUTPUT_ALL, OUTPUT_NONE };

struct measure_progress {
	size_t execution; /* 1-based, of executions; warm-ups included */
	size_t executions;
	bool warm_up;
	size_t repetition;                 /* 0-based */
	size_t pass, passes;               /* 0-based */
	const struct event *const *events; /* of this pass */
	size_t n_events;
	double elapsed_seconds; /* so far */
	double left_seconds;    /* estimate; negative when unknown */
};

struct measure_options {
	size_t size;        /* sizeof(struct measure_options) */
	size_t repetitions; /* >= 1 */
	bool several_runs;
	/* warm_ups was given; otherwise 1 when there is more than one execution, else 0 */
	bool has_warm_ups;
	size_t warm_ups;
	double confidence; /* 0.95 or 0.99 */
	enum program_output program_output;
	uint64_t slice_ns; /* how often multiplexed counters are read; 0: the default, 10 ms */
	/* CPUS and PROCESSES without a command: stop after this; 0: until they end or interrupt */
	uint64_t delay_ns;
	/* Of each execution of a program: it is told to end after this (measure/waiting.h), and is the last one;
	 * what was counted of it is an estimate that is cut_short. 0: never. */
	uint64_t timeout_ns;
	/* Becomes non-zero when the user wants to stop; may be NULL. Positive: the number of a signal that tare
	 * alone got, which is passed on to the program. Negative: the terminal sent it to
	 * the program as well (si_code SI_KERNEL), so that passing it on would be a second one. */
	const volatile sig_atomic_t *interrupt;
	bool want_blocks; /* result->blocks, of the first counted execution under an engine */
	enum blocks_by blocks_by;
	bool want_system_calls;      /* result->system_calls, likewise */
	enum locations_of locations; /* result->locations, likewise */
	/* before each execution; may be NULL */
	void (*progress)(void *context, const struct measure_progress *progress);
	void *progress_context;
	/* of each execution; repetitions is 1 then. interval NULL: nobody wants them; interval_ns 0: only on
	 * demand */
	uint64_t interval_ns;
	interval_tell *interval;
	void *interval_context;
	/* Turned on and off on the way (measure/control.h): zeroed, it is on from begin to end. ERROR_UNSUPPORTED
	 * where the backend cannot. */
	struct switching control;
	const struct clock *clock; /* NULL: the monotonic clock */
};

/* Counts events and metrics of a target. unavailable events become estimates that are not known, with the
 * reason. When nothing at all could be measured (the program did not start, no repetition finished),
 * false and *out is NULL (os_errno ETIMEDOUT: a warm-up timed out). On success the caller frees *out. */
bool measure_count(const struct backend_operations *operations, struct backend *backend,
		   const struct target *target, const struct event *events, size_t n_events,
		   const struct metric *const *metrics, size_t n_metrics, const struct measure_options *options,
		   struct result **out, struct error *err);

/* ---- the same in steps, for several targets whose executions take turns ----
 *
 *     measure_begin ──► measure_step until *more is false ──► measure_end
 *
 * Several may be under way at once, also on one backend: no step leaves anything running. Steps may stop at any
 * time; what was executed is in the result. Standard input: target->command->stdin_fd must be one that each can
 * read again (measure/streams.h). */
struct measure_steps;

/* On failure *out is NULL. What is passed is borrowed until measure_end() or measure_abandon(). */
bool measure_begin(const struct backend_operations *operations, struct backend *backend,
		   const struct target *target, const struct event *events, size_t n_events,
		   const struct metric *const *metrics, size_t n_metrics, const struct measure_options *options,
		   struct measure_steps **out, struct error *err);
/* Warm-ups that come first, and executions of each repetition. */
void measure_plan_of(const struct measure_steps *steps, size_t *warm_ups, size_t *passes);
/* One execution. *more: another one is due. False: it failed and nothing was measured before; steps stay the
 * caller's. */
bool measure_step(struct measure_steps *steps, bool *more, struct error *err);
/* wait_status and executions of the steps so far hold; estimates do not. */
const struct result *measure_so_far(const struct measure_steps *steps);
/* Frees steps, always; *out as of measure_count(). */
bool measure_end(struct measure_steps *steps, struct result **out, struct error *err);
void measure_abandon(struct measure_steps *steps); /* steps may be NULL */

/* ---- pieces, each in a file of its own, tested alone ---- */

/* plan.c: splits available events into as few groups that fit as first-fit finds; group_of[n] gets each
 * event's group, returns the number of groups. An event that fits alone nowhere gets a group of its own. regions:
 * each event has a second counter then, which is read by region. */
size_t measure_plan(const struct backend_operations *operations, struct backend *backend,
		    const struct event *const *events, size_t n, bool regions, size_t *group_of);
bool measure_fits(const struct backend_operations *operations, struct backend *backend,
		  const struct event *const *events, size_t n, bool regions);

/* machine.c: fills facts (strings in arena). */
bool measure_machine_facts(struct arena *arena, struct machine_facts *facts);

/* The clock of the first CPU as the kernel tells it; 0: it does not (arm64). */
double measure_clock_mhz(void);

#endif

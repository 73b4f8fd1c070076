/*
 * What commands do between their options and their report, without a terminal: what runs, what is counted, with
 * which backend; measuring; the tare taken off; the rows in the order of asking; places named.
 *
 *     session_open ──► session_add_… (selection.h) ──► session_add_regions ──► session_measure ──► session_finish ──► session_close
 *
 * What always holds:
 *  1. Nothing is printed here, and no option is known: what is wrong is a struct error, what is worth saying is in
 *     the result.
 *  2. What was asked (struct session_target, names) is borrowed until session_close(); the session is where its
 *     caller put it, and stays there.
 *  3. After a failure, session_close() releases what there is.
 */
#ifndef TARE_SESSION_SESSION_H
#define TARE_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/backend.h"
#include "event/event.h"
#include "event/metric.h"
#include "measure/measure.h"
#include "result/result.h"
#include "session/regions.h"
#include "session/selection.h"

/* What runs, or is looked at while it runs. */
struct session_target {
	enum target_kind kind;
	char *const *program; /* with its arguments; NULL: none is started */
	bool reproducible;    /* struct command has these */
	const char *cpu;
	pid_t group;
	bool keep;        /* struct target has it */
	bool no_sharing;  /* likewise */
	unsigned sampled; /* likewise */
	uint64_t sample_seed;
	const char *cgroup; /* of CPUS: the tasks of this control group alone; NULL */
	bool own_cgroup;    /* of CPUS: the program in a control group of its own; session_profile() only */
	const int *ids;     /* processes, threads or CPUs, as `kind` says */
	size_t n_ids;
	bool no_children, per_thread, per_cpu, per_process;
	bool times_calls; /* struct target has it */
};

static inline enum target_kind session_target_kind(bool cpus, bool processes, bool threads)
{
	return cpus ? TARGET_CPUS : processes ? TARGET_PROCESSES : threads ? TARGET_THREADS : TARGET_COMMAND;
}

struct session {
	struct command command;
	struct target target;
	struct event_table *events;
	struct metric_table *metrics; /* NULL until a metric is added */
	const struct backend_operations *operations;
	struct backend *backend;
	const char *const *machines; /* that the backend models; the backend's */
	size_t n_machines;
	struct selection selection;
	/* of session_share(): whose backend, tables and selection these are; else the session itself */
	struct session *events_of;
	struct session_regions regions;
	struct result *result; /* of session_measure() */
};

/* Opens the backend that `on` names ("auto", "model:r12000", "replay:FILE"), and the tables of events: tare's own,
 * and those of event_files[n]. target NULL: nothing is going to be counted but what the caller starts itself.
 * ERROR_USAGE and ERROR_SYNTAX: what was asked for is wrong. */
bool session_open(struct session *session, const struct session_target *target, const char *on,
		  const char *const *event_files, size_t n_event_files, struct error *err);
void session_close(struct session *session);

/* Another session on the backend and with the events of `owner`, which is closed after it. Its program is the
 * owner's until session_set_program(). */
void session_share(struct session *session, struct session *owner);
/* Another program (with its arguments) for a session that was opened for one; its standard input is input_fd, or
 * tare's own (-1). */
void session_set_program(struct session *session, char *const *program, int input_fd);

/* Counts these places of the program as well; places[n] as --region has them (symbol/places.h). ERROR_USAGE: what
 * was said of them is wrong; other errors are the program's. */
bool session_add_regions(struct session *session, const char *const *places, size_t n, struct error *err);
/* Of each region, and of those that the program names itself, also what took place outside of regions entered in
 * it. ERROR_USAGE: the backend sees whole passes only. */
bool session_ask_exclusive(struct session *session, struct error *err);

/* Measures what was added, and looks whether its counts obey the laws (trust/conservation.h); session->result has
 * it. options as measure_count() has them. */
bool session_measure(struct session *session, const struct measure_options *options, struct error *err);

/* Looks at the laws between counts (trust/conservation.h), as session_measure() does: what breaks one is
 * refuted. */
bool session_check_laws(struct session *session, struct error *err);

/* Takes off what measuring itself counts, by the kept calibration of this machine; of regions, what their probes
 * cost. only_regions: that alone. False when memory ran out: counts are as they were. */
bool session_take_off(struct session *session, bool only_regions);

/* After a time-out: what was counted of the program until then becomes a lower bound, and says so. To be called
 * after session_take_off(). False when memory ran out: nothing was changed. */
bool session_cut_short(struct session *session, uint64_t timeout_ns);

/* Puts the result's rows into the order of asking, under their labels, with rows for what nothing here can count.
 * fold: of a default set, rows that this machine cannot count become one note. False when memory ran out: the rows
 * are in the order of measuring. */
bool session_order_rows(struct session *session, bool fold);

/* Can calls be followed for all events at once? Asked before the program runs. ERROR_USAGE: they are too many. */
bool session_check_calls(const struct session *session, struct error *err);
/* session_measure(), and calls are followed: result->locations has arcs, or says why not. */
bool session_measure_calls(struct session *session, const struct measure_options *options, struct error *err);

/* Gives the counts' places names: result->breakdown. inclusive: with what was called, by session_measure_calls().
 * False when there are none, or their counts are wrong; or there are no inclusive counts: the others are there. */
bool session_break_down(struct session *session, enum breakdown_by by, bool inclusive, struct error *err);

/* What was required (strict: asked for) and is not counted in all of the runs: told one by one. How many. Before
 * session_order_rows(). */
size_t session_missing(const struct session *session, bool strict,
		       void (*tell)(void *context, const struct error *missing), void *context);

/* Was anything counted? Of a default set, the clock on the wall alone is nothing. */
bool session_counted_any(const struct session *session);

#endif

/* One measure_count() at work: what was asked, how it was split, and what the executions gave so far.
 *
 * 1. series[0 … n_events-1] are the events' totals, in the order of the request; rows (threads, CPUs) follow.
 * 2. counts of a series are indexed by repetition; accounts by pass and repetition.
 * 3. Text that reaches the result is in the result's arena. */
#ifndef TARE_MEASURE_MEASUREMENT_H
#define TARE_MEASURE_MEASUREMENT_H

#include "base/vec.h"
#include "measure/account.h"
#include "measure/execution.h"
#include "measure/measure.h"

/* What one counter gave in one execution. */
struct series_count {
	double value;         /* scaled where it did not count all the time */
	double low, high;     /* of the scaling; = value without */
	double share;         /* running / enabled */
	unsigned char state;  /* enum reading_state; 0 (COUNTED) means nothing before `reached` is set */
	unsigned char source; /* enum source */
	bool reached;         /* its execution took place */
	bool partial;         /* … but was cut short by the user */
	bool has_least;       /* not counted, but it is `value` or more */
	struct measuring measuring;
};

struct series {
	size_t event;
	bool is_row;
	pid_t tid, pid;
	int cpu;
	struct series_count *counts; /* n = session.repetitions */
	const char *command;         /* of a row: as struct reading has it */
	const char *why;             /* the first reason why a count is missing */
	const char *machine;         /* the modelled machine that was counted on; NULL */
	bool unproven;               /* its event is READING_UNPROVEN */
	size_t n_silent;             /* executions in which an unproven event counted 0 */
};

/* A region's counts: one series for each event of the session, in the result's arena. */
struct region_series {
	const char *name, *text;
	enum region_kind kind;
	bool exclusive;
	uint64_t entries, exits, unbalanced, threads; /* of its first execution */
	uint64_t least, most;                         /* entries of any */
	const char *why;
	uint64_t seen;         /* with why: entries so far */
	struct series *series; /* [n_events] */
};

enum { CALLS_KEPT = 64 }; /* of so many runs, system calls are compared */

enum { PASS_NONE = (size_t)-1 }; /* the event is not counted by the backend */

struct measurement {
	const struct backend_operations *operations;
	struct backend *backend;
	const struct target *target;
	const struct event *events;
	size_t n_events;
	const struct metric *const *metrics;
	size_t n_metrics;
	struct measure_options options;
	struct clock clock;

	const char **remedies;            /* n_events: the one step that would allow it; NULL */
	uint64_t own_peak_bytes;          /* of tare itself, after the last execution */
	bool *by_account;                 /* n_events: from the operating system's account */
	size_t *pass_of;                  /* n_events: the pass that counts it, or PASS_NONE */
	const struct event **pass_events; /* the passes' events one after the other … */
	size_t *pass_event_index;         /* … and their places in `events` */
	size_t *pass_start;               /* passes + 1 */
	size_t passes;                    /* >= 1; one without events when only the account is asked for */
	bool multiplexed;                 /* the one pass does not fit */
	size_t warm_ups;
	size_t next; /* execution, of warm-ups and passes × repetitions */

	VEC(struct series) series;
	VEC(struct region_series *) regions;
	struct account *accounts; /* passes × repetitions: [repetition * passes + pass] */
	VEC(struct result_note) notes;
	/* of counted runs under the engine: as system_calls() of backend/backend.h has them */
	const char *calls[CALLS_KEPT];
	const char *inputs[CALLS_KEPT]; /* likewise; NULL: not known */
	size_t n_calls;
	struct steal steal;
	struct result *result;
};

/* The account of one execution. */
static inline struct account *measurement_account(const struct measurement *s, size_t pass, size_t repetition)
{
	return &s->accounts[repetition * s->passes + pass];
}

/* The account of a repetition's first execution that was native; of its first one where none was. */
static inline const struct account *measurement_own_account(const struct measurement *s, size_t repetition)
{
	for (size_t pass = 0; pass < s->passes; pass++) {
		const struct account *account = measurement_account(s, pass, repetition);
		if (account->elapsed_ns > 0 && !account->under_engine)
			return account;
	}
	return measurement_account(s, 0, repetition);
}

/* collect.c: takes over what one execution read. False when memory ran out. */
struct execution;
bool measurement_collect(struct measurement *s, size_t pass, size_t repetition, const struct execution *x);

struct slices;
/* Fills in one count of a series; slices may be NULL. */
bool measurement_keep(struct measurement *s, struct series *series, size_t repetition, const struct reading *r,
		      const struct slices *slices, bool partial);

/* collect.c: an event that is READING_UNPROVEN, and whose total is 0 in all executions, is not counted. One count
 * above 0 proves it, and the zeros of other executions, threads and regions with it. */
void measurement_judge_unproven(struct measurement *s);

/* estimate.c: fills result->estimates and result->regions from the series. */
bool measurement_estimate(struct measurement *s);
/* One estimate; scratch has room for all repetitions' counts. False when memory ran out. */
bool measurement_estimate_one(struct measurement *s, const struct series *series, struct series_count *scratch,
			      struct estimate *e);

/* region.c */
bool measurement_collect_regions(struct measurement *s, size_t pass, size_t repetition, const struct execution *x);
bool measurement_estimate_regions(struct measurement *s, struct series_count *scratch);

/* derive.c: fills result->metrics; needs the estimates. */
bool measurement_derive(struct measurement *s);

/* spread.c: least, median, most and standard deviation of all estimates' runs. */
void measurement_describe_runs(struct measurement *s);

/* differing.c: runs that were to be alike, and are not. calls: of one counted execution under the engine. False
 * when memory ran out. */
bool measurement_wants_calls(const struct measurement *s);
bool measurement_keep_calls(struct measurement *s, const struct str *calls, const struct str *inputs);
bool measurement_remark_differing(struct measurement *s);

/* outlier.c: fills result->outliers and the estimates' notes. */
bool measurement_name_outliers(struct measurement *s);

/* remark.c: the lines under the table. */
bool measurement_note(struct measurement *s, enum note_rank rank, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool measurement_remark(struct measurement *s);

/* An event's value in one execution of its own pass, or of `pass` for events of the account. False when it is
 * not known or its execution was cut short. */
bool measurement_value(const struct measurement *s, size_t event, size_t pass, size_t repetition, double *value);

#endif

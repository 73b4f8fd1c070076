/* A paper's study under way, for the files of session/paper*.c. */
#ifndef TARE_SESSION_PAPER_INSIDE_H
#define TARE_SESSION_PAPER_INSIDE_H

#include "session/paper.h"
#include "session/session.h"
#include "trust/kernels.h"
#include "trust/paper_table.h"

enum {
	PAPER_EVENTS_MOST = 40,
	PAPER_SPLITS_MOST = 40,
	PAPER_EXACT_RUNS = 3,
	PAPER_QUICK_RUNS = 10,
	PAPER_RUNS = 100,
	PAPER_SWIMS = 4
};

struct paper_work {
	const struct paper_asked *asked;
	struct paper_study *study;
	struct kernels kernels;
	size_t done, all; /* measurements, for the progress */
	struct error *err;
};

/* ---- what is said (paper.c). Each is false when memory ran out: err is set then ---- */

bool paper_heading(struct paper_work *w, const char *text, const char *detail);
bool paper_text(struct paper_work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool paper_missing(struct paper_work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text of the study's own; "" when memory ran out. */
const char *paper_printf(struct paper_work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* columns end with NULL. NULL when memory ran out; valid until the next block is added. */
struct paper_block *paper_table_block(struct paper_work *w, const char *const *columns);
/* cells as many as there are columns; they are borrowed from the study. */
bool paper_row_of(struct paper_work *w, struct paper_block *block, const char *const *cells);
/* The paper's own table, as it is printed. */
bool paper_printed(struct paper_work *w, const struct paper_table *table);

struct paper_block *paper_figure_block(struct paper_work *w, const char *title, const char *x_label,
				       const char *y_label);
/* A line with room for n points, and none yet; NULL when memory ran out. Valid until the next
 * series. */
struct paper_series *paper_series_of(struct paper_work *w, struct paper_block *block, const char *name,
				     const char *source, size_t n);

bool paper_find(struct paper_work *w, const char *name, struct paper_table *out);

/* "1,234", "12.5", "–" of NAN */
const char *paper_count_text(struct paper_work *w, double value);
/* "+1.25 %"; "0 %" of exactly 0 */
const char *paper_percent_text(struct paper_work *w, double ratio);

/* ---- what is counted (paper_count.c) ---- */

/* One event of a program, over its repetitions. */
struct paper_count {
	bool known;
	double mean, sd, least, most;
	size_t runs;
	const char *source; /* "hw", "exact", or the model's machine; the study's */
	const char *why;    /* not known: why; the study's */
};

/* A backend with the events that it is asked for. */
struct paper_counter {
	struct session session;
	struct event events[PAPER_EVENTS_MOST]; /* those that it counts here */
	size_t at[PAPER_EVENTS_MOST];           /* of them: which of the asked ones */
	size_t n_events, n_asked;
	const char *why[PAPER_EVENTS_MOST]; /* of an asked one that it does not count; NULL */
	bool varies;                        /* a counter: many repetitions */
};

/* requests: "instructions:u" …; an event that this backend does not count here has `why`. To be closed, also
 * after a failure. */
bool paper_counter_open(struct paper_work *w, struct paper_counter *counter, const char *on,
			const char *const *requests, size_t n);
void paper_counter_close(struct paper_counter *counter);

/* Executes argv and counts all of it, or its function `region`. counts[n_asked]. False: err is set; a program
 * that ends with another status than 0 is an error. */
bool paper_count(struct paper_work *w, struct paper_counter *counter, const char *const *argv, const char *region,
		 struct paper_count *counts);

/* The same of a program that enters one region of libtare's itself: what that counts. */
bool paper_count_own_region(struct paper_work *w, struct paper_counter *counter, const char *const *argv,
			    struct paper_count *counts);

/* A kernel that can run here, as a whole command and as a region; else NULL and `err` is set. */
const struct kernel *paper_kernel(struct paper_work *w, const char *name);

/* A kernel at several sizes: counts[size * n_requests + request] of its region, or of all of it without libc
 * (command). False: err is set. */
bool paper_sweep(struct paper_work *w, const char *kernel, bool region, const char *on,
		 const char *const *requests, size_t n_requests, const uint64_t *sizes, size_t n_sizes,
		 struct paper_count *counts);

/* ---- a program's own code, and its libraries (paper_split.c) ---- */

struct paper_split {
	bool known;
	double own, all;    /* of one execution */
	const char *source; /* as struct paper_count has it */
	const char *why;    /* not known: why; the study's */
};

/* Executes argv, an absolute path, once for each four events, and counts all of it, or what is executed from
 * its function `region` on until that returns. own: what `function` counted, or with NULL all code of the
 * program's own file. requests "loads:u" …, out[n]. */
bool paper_split(struct paper_work *w, const char *on, const char *const *requests, size_t n,
		 const char *const *argv, const char *region, const char *function, struct paper_split *out);

/* What each of the functions counts itself, in one execution: out[n_functions * n], a function's events one
 * behind the other. At most four events that the backend counts. */
bool paper_functions(struct paper_work *w, const char *on, const char *const *requests, size_t n,
		     const char *const *argv, const char *const *functions, size_t n_functions,
		     struct paper_split *out);

/* What the function counts without what it calls, from its code alone: a nest of loops that go `side` times
 * each (predict/nest.h). */
bool paper_predict(struct paper_work *w, const char *program, const char *function, const char *const *requests,
		   size_t n, double side, double *out);

/* The path of a program among the kernels ("wc-region"), the study's. NULL: it is not there, err is set. */
const char *paper_program(struct paper_work *w, const char *name);

/* ---- the papers ---- */

bool paper_korn(struct paper_work *w);
bool paper_nieto(struct paper_work *w);
bool paper_nieto_swim(struct paper_work *w); /* Table 1: PAPER_SWIMS measurements */
bool paper_safford(struct paper_work *w);
bool paper_wu(struct paper_work *w);
bool paper_zagha(struct paper_work *w);

#endif

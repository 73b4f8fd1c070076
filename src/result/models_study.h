/* How far a machine model is off (tare verify models): what the model counts of programs against what the
 * hardware's counters show of the same ones. A plain record; texts and arrays are in its arena. */
#ifndef TARE_RESULT_MODELS_STUDY_H
#define TARE_RESULT_MODELS_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "result/result.h"

/* Events of one program below this are not compared: an error of a few is a large share of them. */
static const double MODELS_LEAST_EVENTS = 1000;

enum models_state {
	MODELS_COMPARED,
	MODELS_TOO_FEW, /* the counter shows fewer than MODELS_LEAST_EVENTS */
	MODELS_UNKNOWN, /* one of the two has no count: `why` */
};

/* One event of one program. */
struct models_pair {
	enum models_state state;
	double model;
	double counter, low, high; /* the counter's mean and its interval over its executions */
	double error;              /* model / counter − 1, of COMPARED; else NAN */
	const char *why;
};

struct models_program {
	const char *name;
	bool kernel;               /* one of tare's kernels; else a program of the machine */
	const char *why;           /* it could not be compared; NULL: it was */
	struct models_pair *pairs; /* n_events; NULL where `why` is there */
};

/* One event over all programs; the errors are of those that are COMPARED. */
struct models_event {
	const char *label;
	enum trust trust; /* of the counter, by an earlier `tare verify`: the worst over the programs */
	size_t compared, too_few, unknown;
	size_t within_tenth, within_half; /* |error| is at most 10 %, 50 % */
	size_t inside;                    /* the model's count is inside of the counter's interval */
	double median, least, most;       /* errors; NAN where none is compared */
	const char *least_in, *most_in;   /* programs */
};

struct models_study {
	struct arena arena;
	struct machine_facts facts;
	const char *model;    /* the modelled machine, "host" */
	const char *counters; /* the backend, "perf" */
	bool quick;
	size_t n_events, n_programs, executions;
	size_t not_modelled; /* events that the model counts and no counter here does */
	struct models_event *events;
	struct models_program *programs;
};

#endif

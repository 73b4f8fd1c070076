/* A verification under way, for the files of session/counters*.c. */
#ifndef TARE_SESSION_COUNTERS_INSIDE_H
#define TARE_SESSION_COUNTERS_INSIDE_H

#include "session/counters.h"
#include "session/session.h"
#include "trust/kernels.h"

enum {
	COUNTERS_BACKENDS_MOST = 8,
	COUNTERS_INTERRUPTS = 4,                    /* the account's faults and switches … */
	COUNTERS_ACCOUNT = COUNTERS_INTERRUPTS + 1, /* … and its CPU time, in nanoseconds */
	COUNTERS_EXACT_RUNS = 3,                    /* required equal */
	COUNTERS_QUICK_RUNS = 10,                   /* of counters that vary */
	COUNTERS_FULL_RUNS = 100,                   /* Korn, Nieto */
	COUNTERS_QUICK_SIZES = 6,
	COUNTERS_QUICK_KERNELS = 10,
	COUNTERS_QUICK_REGIONS = 2, /* kernels whose regions move an event, of counters */
};

/* An event that a backend counts here. */
struct counters_event {
	struct event event;
	const char *name;   /* as kernels predict it */
	bool unproven;      /* its counter runs, and was never seen to move */
	enum source source; /* as its counts have it: a refusal has none to tell */
};

/* An event that is not measured, by what the backend says of it. */
struct counters_not_measured {
	const char *label, *why;
	bool silent; /* its counter opens and stays at 0 for known work; else it is not counted here at all */
};

struct counters_backend {
	const char *on;
	struct session session;
	VEC(struct counters_event) events;
	VEC(struct counters_not_measured) not_measured; /* those not counted: of what was asked for by name */
	bool exact;                                     /* engine and models: three times, equal */
	bool modelled;                                  /* on one machine: `machine` holds */
	struct kernel_machine machine;
	bool account; /* the operating system's account of an execution is its program's: interrupts are known */
	size_t first_account; /* index of the first of the account's events, behind `events` */
	size_t n_account;
	struct event *all; /* events, then those of the account */
};

/* One kernel at one size by one backend through one interface. */
struct counters_step {
	struct counters_backend *backend;
	const struct kernel *kernel;
	enum kernel_interface interface;
	uint64_t size;
	bool done;      /* by the verification that is resumed */
	double seconds; /* expected */
};

struct counters_study {
	struct counters_asked asked;
	struct verification found;
	struct kernels kernels;
	struct counters_backend backends[COUNTERS_BACKENDS_MOST];
	size_t n_backends;
	VEC(struct counters_step) steps;
	VEC(const char *) names; /* of all events that kernels predict, each once */
	struct runs *runs;       /* NULL: nothing is kept */
};

/* counters_measure.c: executes the step, and adds a point for each event that it can say something of. */
bool counters_measure(struct counters_study *c, const struct counters_step *step, size_t repetitions,
		      struct error *err);
struct counters_time {
	double seconds, cpu;
};
/* Without adding points: how long it takes. */
bool counters_try(struct counters_study *c, const struct counters_step *step, size_t repetitions,
		  struct counters_time *took, struct error *err);
/* True with *err: by a signal. */
bool counters_interrupted(const struct counters_study *c, struct error *err);
/* CPU time of tare and of what it executed and waited for. */
double counters_cpu_seconds(void);
/* "region", "command" */
const char *counters_interface_name(enum kernel_interface interface);
/* The event whose prediction, times *factor, is the event's: itself, or of cycles instructions (see
 * counters_asked). */
const char *counters_predicted_by(const struct counters_study *c, const char *event, double *factor);
size_t counters_repetitions(const struct counters_study *c, const struct counters_step *step);

#endif

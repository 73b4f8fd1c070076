/* `tare verify models`: a machine model against the counters of this machine, on the kernels and on programs of
 * the machine. Without a terminal.
 *
 * What always holds:
 *  1. Only what a counter of the hardware counts is compared, with what a model counts: events that the engine
 *     counts exactly are the other verification's (session/counters.h).
 *  2. A program that cannot be run or counted by both has a reason, and no numbers.
 *  3. User level alone: models see no kernel. */
#ifndef TARE_SESSION_MODELS_H
#define TARE_SESSION_MODELS_H

#include <signal.h>
#include <stdbool.h>

#include "result/models_study.h"
#include "session/keep.h"

enum { MODELS_COUNTED_RUNS = 5, MODELS_PROGRAMS_LEAST = 12 /* of the machine, for errors to say something */ };

struct models_asked {
	const char *model;             /* a backend, "model:host" */
	const char *counters;          /* a backend, "perf" */
	const char *events;            /* a list as -e has it; NULL: all that both count */
	const char *kernels;           /* names, separated by commas; NULL: all, or of a quick look ten */
	bool quick;                    /* ten kernels and four programs */
	const struct keeping *keeping; /* where verdicts on the counters are */
	const volatile sig_atomic_t *interrupt;
	void (*progress)(void *context, const char *program, size_t done, size_t all); /* NULL: none */
	void *progress_context;
};

/* ERROR_UNSUPPORTED: there is no hardware counter here, or none that the model has the event of; the hint says
 * what would do. On success the caller frees *out with session_models_free(). */
bool session_models(const struct models_asked *asked, struct models_study *out, struct error *err);
void session_models_free(struct models_study *study);

#endif

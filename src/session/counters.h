/*
 * `tare verify`: each event that a source counts here, on kernels whose counts are known, through each interface;
 * and the verdict on it (trust/verdict.h). Without a terminal.
 *
 *     counters_begin ──► counters_predict_seconds ──► counters_run ──► counters_judge ──► counters_end
 *
 * What always holds:
 *  1. Each execution is a process of its own. An engine's and a model's counts are taken three times, and have to
 *     be equal; others, which vary, as often as the grid says.
 *  2. A prediction is arithmetic's (trust/kernels.h); where there is none, the engine's count of the same kernel,
 *     if the engine counted the same each time. Which one it was is in the record.
 *  3. What was measured is in the store after each kernel: an interrupted verification is resumed, by one that
 *     asks for the same grid, backends, kernels and events.
 */
#ifndef TARE_SESSION_COUNTERS_H
#define TARE_SESSION_COUNTERS_H

#include <signal.h>
#include <stdbool.h>

#include "result/verification.h"
#include "session/keep.h"
#include "trust/kernels.h"

struct counters_asked {
	const char *on;      /* backends, separated by commas; NULL: the engine, then the counters */
	const char *events;  /* a list as -e has it; NULL: all that kernels predict */
	const char *kernels; /* names, separated by commas; NULL: all, or of a quick look ten */
	/* > 0: on this machine, a simulator, each instruction takes so many cycles: cycles are also predicted */
	double cycles_per_instruction;
	/* what formulas may ask of a modelled machine: so its model is also predicted; NULL: none is */
	bool (*machine)(const char *name, struct kernel_machine *out, struct error *err);
	bool quick;
	bool anew; /* an interrupted one is not resumed */
	const struct keeping *keeping;
	const volatile sig_atomic_t *interrupt;
	/* what is told on the way; seconds < 0: not known */
	void (*progress)(void *context, size_t done, size_t all, double seconds_left, const char *kernel);
	void *progress_context;
};

struct counters_study; /* under way */

/* On failure *out is NULL. ERROR_USAGE: what was asked for is wrong. */
bool counters_begin(const struct counters_asked *asked, struct counters_study **out, struct error *err);
/* How long the rest will take, from some executions of each kernel's smallest and largest size by each backend and
 * interface; so does CPU time. Where others use the machine it takes longer when they begin to. */
bool counters_predict_seconds(struct counters_study *c, double *seconds, struct error *err);
/* ERROR_SYSTEM "interrupted": what was measured is kept. */
bool counters_run(struct counters_study *c, struct error *err);
/* Fills in the verdicts, and keeps them. */
bool counters_judge(struct counters_study *c, struct error *err);
/* The record, as far as it got; borrowed until counters_end(). */
const struct verification *counters_found(const struct counters_study *c);
void counters_end(struct counters_study *c); /* c may be NULL */

#endif

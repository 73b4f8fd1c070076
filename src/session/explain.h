/*
 * `tare explain`: one execution as the program is, one that is counted, and the time by cause that follows.
 * Without a terminal.
 *
 *     native_run ──► session_measure ──► causes_explain ──► advice
 */
#ifndef TARE_SESSION_EXPLAIN_H
#define TARE_SESSION_EXPLAIN_H

#include <signal.h>

#include "explain/advice.h"
#include "explain/costs.h"
#include "measure/measure.h"
#include "result/explanation.h"

struct explain_asked {
	char *const *program;
	const char *on;            /* a backend: "auto", "perf", "model:r10000" */
	bool here;                 /* the machine is this one: the program's own time is measured and compared */
	unsigned levels;           /* of data caches, 1 to 3 */
	const struct costs *costs; /* NULL: why_no_costs */
	const char *why_no_costs, *costs_note; /* costs_note: a remark on the costs; NULL */
	/* the machine that lines are counted on for advice, as "model:" has it; NULL: no advice. Facts but for
	 * costs and memory */
	const char *advice_on;
	bool wants_advice; /* by line too, which takes more executions; without, of the whole program alone */
	struct advice_facts facts;
	enum breakdown_by by;
	enum program_output program_output; /* of the first execution */
	double confidence;
	const volatile sig_atomic_t *interrupt;
	/* before each execution; may be NULL */
	void (*progress)(void *context, const char *what);
	void *progress_context;
};

/* On success the caller frees *out with explanation_free(); on failure it holds nothing. ERROR_USAGE: what was
 * asked for is wrong. */
bool explain_run(const struct explain_asked *asked, struct explanation *out, struct error *err);

#endif

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
#include "measure/streams.h"
#include "result/explanation.h"

/* What several explanations share: each execution of all of them gets the same standard input, and the output of
 * the first one alone is shown. Zeroed before the first; to be closed by explain_input_close(). */
struct explain_input {
	struct streams streams;
	size_t executions; /* so far */
	bool opened;
};
void explain_input_close(struct explain_input *input);

struct explain_asked {
	char *const *program;
	char *const *environment;    /* NULL: tare's own */
	struct explain_input *input; /* NULL: this is the only explanation */
	const char *on;              /* a backend: "auto", "perf", "model:r10000" */
	bool here;                   /* the machine is this one: the program's own time is measured and compared */
	unsigned levels;             /* of data caches, 1 to 3 */
	const struct costs *costs;   /* NULL: why_no_costs */
	const char *why_no_costs, *costs_note; /* costs_note: a remark on the costs; NULL */
	/* the machine that lines are counted on for advice, as "model:" has it; NULL: no advice. Facts but for
	 * costs and memory */
	const char *advice_on;
	bool wants_calls;  /* system calls by time: one more execution, under the engine */
	bool wants_waits;  /* where threads wait, and page faults by line: one more execution, sampled */
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

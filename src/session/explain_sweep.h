/* `tare explain --sweep`: the program is explained once for each value of a parameter. Without a terminal. */
#ifndef TARE_SESSION_EXPLAIN_SWEEP_H
#define TARE_SESSION_EXPLAIN_SWEEP_H

#include "result/explained_sweep.h"
#include "session/explain.h"
#include "session/sweep_values.h"

/* The name that stands for numbers of threads: without {threads} in the arguments, OMP_NUM_THREADS is set. */
#define SWEEP_THREADS "threads"

struct explain_sweep_asked {
	const struct explain_asked *each; /* its program may have {NAME}; program and environment of each execution
					     are made from it */
	const struct sweep_values *values;
	const char *per; /* "N^3"; NULL */
	/* before each value, done of them are finished; may be NULL */
	void (*progress)(void *context, const char *value, size_t done);
	void *progress_context;
};

/* On success the caller frees *out with explained_sweep_free(); on failure it holds nothing. ERROR_USAGE: what was
 * asked for is wrong. */
bool explain_sweep(const struct explain_sweep_asked *asked, struct explained_sweep *out, struct error *err);

#endif

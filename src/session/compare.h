/* Several commands measured in turns, and compared.
 *
 * 1. Of each repetition every command has its executions once, in an order drawn anew for each repetition: a slow
 *    change of the machine's state is in all of them alike. The same seed gives the same order.
 * 2. All commands are counted through one backend, with the same events in the same passes.
 * 3. A command that fails ends the comparison with an error, unless that is to be ignored. */
#ifndef TARE_SESSION_COMPARE_H
#define TARE_SESSION_COMPARE_H

#include "result/comparison.h"
#include "session/session.h"

struct compare_command {
	const char *name;
	char *const *program; /* with its arguments */
	const char *const *regions;
	size_t n_regions;
	/* shell commands, run uncounted; NULL: none */
	const char *setup;     /* once, before the first execution of any command */
	const char *prepare;   /* before each execution of this one, warm-ups too … */
	const char *conclude;  /* … and after each */
	const char *cleanup;   /* once, after the last execution of all; also when something failed */
	const char *directory; /* where all of these and the program run; NULL: tare's own */
	/* programs built in several link orders: before each execution one, drawn, takes the place of `built` */
	const char *const *link_orders;
	size_t n_link_orders;
	const char *built;
};

struct compare_options {
	size_t repetitions, warm_ups;
	bool has_warm_ups;
	double confidence;
	uint64_t seed;
	bool ignore_failure;
	bool randomise_layout; /* a new environment size, and with it stack offset, for each execution */
	int input_fd;          /* read from its start by each execution */
	enum program_output program_output;
	const volatile sig_atomic_t *interrupt;
	/* before each execution of all; may be NULL */
	void (*progress)(void *context, const struct compare_command *command, size_t execution, size_t executions,
			 double elapsed_seconds);
	void *progress_context;
};

/* sessions[0] is open, and has its events; its target's program is ignored. The others are opened here, on the
 * same backend. commands[n >= 1]. On success the sessions hold the results, net of the tare, in the order of
 * asking. In any case the caller closes all sessions, the first one last. */
bool session_take_turns(struct session *sessions, const struct compare_command *commands, size_t n,
			const struct compare_options *options, bool *interrupted, struct error *err);

/* Compares results that are there already: names[n] and results[n] as trust_compare() has them. */
struct comparison *session_compare_results(const struct result *const *results, const char *const *names, size_t n,
					   double confidence, struct error *err);

/* Marks rates that improve while the time gets worse (Nieto, Figure 4: superfluous operations raise a rate). */
bool session_mark_misleading(struct comparison *comparison, struct error *err);

#endif

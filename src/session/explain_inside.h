/* What the pieces of explain.h's session share: explain.c, explain_advice.c. */
#ifndef TARE_SESSION_EXPLAIN_INSIDE_H
#define TARE_SESSION_EXPLAIN_INSIDE_H

#include "session/explain.h"
#include "session/native.h"
#include "session/session.h"

/* By place: of an execution that adds something, another may follow. */
enum { PASSES_MOST = 8 };

struct explaining {
	const struct explain_asked *asked;
	struct explanation *e;
	struct session session;
	struct explain_input *input, own; /* own: where no other is asked for */
	struct native_times native;
};

/* The streams of the next execution; *silent tells whether its output is hidden. */
bool explaining_next(struct explaining *x, struct command *command, bool *silent, struct error *err);

/* One execution more, that counts events on that backend by place. take() has the breakdown; false: memory ran
 * out. if_any: that the backend counts none of the events is not a failure; take() gets an empty breakdown
 * then. */
bool explaining_pass(struct explaining *x, const char *on, enum breakdown_by by, const char *events, bool if_any,
		     bool (*take)(void *context, const struct breakdown *breakdown), void *context,
		     struct error *err);

bool explaining_note(struct explanation *e, enum note_rank rank, const char *text, struct error *err);

/* All waits and calls lead through it: its lines say nothing of the program. path: of a module; may be NULL. */
bool explaining_is_c_library(const char *path);
enum { EXPLAINING_FUNCTIONS = 16 }; /* of a stack, at most */

/* One execution more, sampled where threads leave their CPUs. What may not be sampled here is said in
 * why_no_waits. */
bool explaining_waits(struct explaining *x, struct error *err);

/* One execution more, under the engine, that times system calls. What cannot be counted here is said in
 * why_no_calls. */
bool explaining_calls(struct explaining *x, struct error *err);

/* Counts what the rules need, and adds the advice. */
bool explaining_advise(struct explaining *x, struct error *err);

#endif

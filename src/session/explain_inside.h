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
	struct advice_line faulting; /* explaining_waits(): the line of most page faults, below the C library */
};

/* The streams of the next execution; *silent tells whether its output is hidden. */
bool explaining_next(struct explaining *x, struct command *command, bool *silent, struct error *err);

/* One execution more, that counts events on that backend by place. */
struct explaining_pass {
	const char *on, *events;
	enum breakdown_by by;
	bool inclusive; /* with what is called from there */
	/* that the backend counts none of the events is not a failure; take() gets an empty breakdown then */
	bool if_any;
	/* has the breakdown; false: memory ran out */
	bool (*take)(void *context, const struct breakdown *breakdown);
	void *context;
};
bool explaining_pass(struct explaining *x, const struct explaining_pass *pass, struct error *err);

bool explaining_note(struct explanation *e, enum note_rank rank, const char *text, struct error *err);

/* All waits and calls lead through it: its lines say nothing of the program. path: of a module; may be NULL. */
bool explaining_is_c_library(const char *path);
enum { EXPLAINING_FUNCTIONS = 16 }; /* of a stack, at most */
/* What a function of it waits for; false: the name does not tell. */
bool explaining_waits_by_name(const char *function, enum cause *cause);

/* One execution more, sampled where threads leave their CPUs. What may not be sampled here is said in
 * why_no_waits. */
bool explaining_waits(struct explaining *x, struct error *err);

/* One execution more, under the engine, that times system calls. What cannot be counted here is said in
 * why_no_calls. */
bool explaining_calls(struct explaining *x, struct error *err);

/* Counts what the rules need, and adds the advice. After explaining_waits(), if that is asked for. */
bool explaining_advise(struct explaining *x, struct error *err);

/* The lines that rows do not have, by more executions where rules speak of such (advice_wants_waits(),
 * advice_wants_locking()). What was not asked for is not shown. */
bool explaining_find_lines(struct explaining *x, const struct evidence_rows *evidence, struct advice_facts *facts,
			   struct error *err);

#endif

/*
 * Gates: bounds that a count has to keep, for CI.
 *
 *     EVENT < BOUND   EVENT > BOUND   EVENT <= BOUND   EVENT >= BOUND
 *
 *     BOUND   +1%, -0.5%, 1%    of the baseline's value: the difference, relatively
 *             +1000, -1000      the difference in the event's unit
 *             1e9, 250000       the value itself
 *
 * What always holds: a gate passes only when the event was counted in all runs that were asked for, and its whole
 * interval keeps the bound. It fails only when the whole interval breaks it. Everything else is undecided, with
 * the reason, and what would decide it.
 */
#ifndef TARE_SESSION_GATE_H
#define TARE_SESSION_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"
#include "result/comparison.h"

struct session;

enum gate_bound { GATE_RELATIVE, GATE_DIFFERENCE, GATE_VALUE };

struct gate {
	const char *text; /* borrowed */
	char event[200];
	bool below;     /* "<", "<=": else ">", ">=" */
	bool inclusive; /* "<=", ">=" */
	enum gate_bound bound;
	double limit; /* relative: as a part of 1 */
	/* what the event is called in reports; of several machines, one for each. Freed with gate_free() */
	VEC(char *) labels;
	bool is_metric;
};

/* text is borrowed. ERROR_USAGE: not a gate. */
bool gate_parse(const char *text, struct gate *out, struct error *err);
void gate_free(struct gate *gate);

/* Has the gate's event (or metric) counted, and remembers what it is called. */
bool session_add_gate(struct session *session, struct gate *gate, struct error *err);

/* Judges each gate for each command but the baseline: comparison->gates. False when memory ran out. */
bool gates_judge(struct comparison *comparison, const struct gate *gates, size_t n);

/* A condition on one result's own value (GATE_VALUE): GATE_FAILED when it holds for sure ("instructions>1e9" is
 * what must not be), GATE_PASSED when it does not for sure. One value without an interval is taken as it is.
 * reason is the arena's; NULL when memory ran out. */
enum gate_outcome gate_condition(const struct gate *gate, const struct result *result, struct arena *arena,
				 const char **reason);

#endif

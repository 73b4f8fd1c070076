/*
 * Time by cause and place: what causes.h does for a whole program, for each function, line or object.
 *
 *     by_place_begin ──► (by_place_events ──► an execution counts them by place ──► by_place_add)* ──► by_place_end
 *
 * An execution can track only so many events by place: each adds those that it has, until no more come.
 *
 * What always holds:
 *  1. A place is there once, however many executions it is from.
 *  2. A cause that no execution counted by place is NAN at every place: it is not 0.
 */
#ifndef TARE_EXPLAIN_BY_PLACE_H
#define TARE_EXPLAIN_BY_PLACE_H

#include "base/hash.h"
#include "explain/causes_rules.h"

struct by_place {
	struct explanation *e; /* whose places these become */
	const struct costs *costs;
	struct cause_rule rules[CAUSE_RULES];
	size_t n_rules;
	bool taken[CAUSE_RULES];
	VEC(struct explained_place) found;
	struct hash_index index;
};

void by_place_begin(struct by_place *p, struct explanation *e, unsigned levels, const struct costs *costs);
/* The events that are still to be counted, as -e has them; appended. None: there is nothing left. */
void by_place_events(const struct by_place *p, struct str *out);
/* Takes what the breakdown has. *more: it had something that was missing. False: memory ran out. */
bool by_place_add(struct by_place *p, const struct breakdown *breakdown, bool *more);
/* Moves the places into the explanation, the longest first, with a note for what no execution counted. */
bool by_place_end(struct by_place *p, struct error *err);
/* After a failure; by_place_end() also does it. */
void by_place_free(struct by_place *p);

#endif

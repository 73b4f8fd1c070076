/* Which events are which cause's, and what one of them costs. For causes.c and by_place.c only. */
#ifndef TARE_EXPLAIN_CAUSES_RULES_H
#define TARE_EXPLAIN_CAUSES_RULES_H

#include "explain/causes.h"

/* `levels`: which machines the row is for, as bits: 1 << number of cache levels. What the last level misses comes
 * from memory. */
struct cause_rule {
	enum cause cause;
	enum cost_operation operation;
	const char *event, *less; /* less: its count is taken off; NULL */
	unsigned levels;
	/* `less` is of misses in order, and the next rule is theirs */
	bool orders;
};

enum { CAUSE_RULES = 19 };

/* Those for a machine of so many levels with these costs (NULL: none): misses in order are apart only where they
 * have a cost. Returns how many. */
size_t cause_rules_of(unsigned levels, const struct costs *costs, struct cause_rule out[CAUSE_RULES]);

#endif

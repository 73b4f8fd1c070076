/* Which events are which cause's, and what one of them costs. For causes.c and by_place.c only. */
#ifndef TARE_EXPLAIN_CAUSES_RULES_H
#define TARE_EXPLAIN_CAUSES_RULES_H

#include "explain/causes.h"

/* `levels`: of which machines the row is, as bits: 1 << number of cache levels. What the last level misses comes
 * from memory. */
struct cause_rule {
	enum cause cause;
	enum cost_operation operation;
	const char *event, *less; /* less: its count is taken off; NULL */
	unsigned levels;
};

enum { CAUSE_RULES = 14 };
extern const struct cause_rule cause_rules[CAUSE_RULES];

bool cause_rule_is_for(const struct cause_rule *rule, unsigned levels);

#endif

#include "result/comparison.h"

#include <stdlib.h>
#include <string.h>

const char *comparison_verdict_name(enum comparison_verdict verdict)
{
	switch (verdict) {
	case COMPARISON_UNKNOWN: return "unknown";
	case COMPARISON_EQUAL: return "equal";
	case COMPARISON_NONE_SEEN: return "none-seen";
	case COMPARISON_WITHIN_FLOOR: return "within-floor";
	case COMPARISON_LESS: return "less";
	case COMPARISON_MORE: return "more";
	}
	return "unknown";
}

enum gate_outcome comparison_gates(const struct comparison *c)
{
	bool undecided = false;
	for (size_t i = 0; i < c->n_gates; i++) {
		if (c->gates[i].outcome == GATE_FAILED)
			return GATE_FAILED;
		undecided |= c->gates[i].outcome == GATE_UNDECIDED;
	}
	return undecided ? GATE_UNDECIDED : GATE_PASSED;
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	arena_free(&c->arena);
	free(c);
}

/* Which costs `tare explain` multiplies with. */
#ifndef TARE_CLI_EXPLAIN_COSTS_H
#define TARE_CLI_EXPLAIN_COSTS_H

#include "explain/costs.h"

struct costs_found {
	bool known;
	struct costs costs;
	char why[512]; /* not known: why; known: a remark on them, or "" */
};

/* asked: --costs, a file or a machine's name; NULL: those of the machine; of this one (here) those that were kept,
 * or, if there are none, measured now. False: what was asked for is not there. The costs are the caller's. */
bool explain_find_costs(const char *asked, const char *machine, bool here, double confidence, bool tell,
			struct costs_found *out, struct error *err);

#endif

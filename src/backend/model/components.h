/*
 * A machine's counters by name: "l1d.read_misses", "branch.mispredicted". The name's first part is a role, which
 * the same row of data/events/ means on every machine; which cache or TLB plays it is the machine's affair.
 *
 *     l1i, l1d      where fetches and data accesses go first            dtlb, itlb   likewise, of translations
 *     l2, l3        one, two levels behind: on the data's way for        stlb         one level behind dtlb (itlb for fetches)
 *                   reads, writes and the rest, on the code's for        dwalk, iwalk the last level of the data's, the code's
 *                   fetches                                                           translations: its misses are walks
 *     llc           the last level, likewise                         private      the last cache on the data's way that a core
 *                                                                                 has for itself
 *     branch, btb   the predictor and its target buffer                  stream       what the program does, whatever the machine
 *
 * What always holds: a place that was found is within struct model_counts.
 */
#ifndef TARE_BACKEND_MODEL_COMPONENTS_H
#define TARE_BACKEND_MODEL_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/counts.h"
#include "model/core/machine.h"

struct component_place {
	bool constant; /* not counted: `value`, a property of the machine ("l2.line_bytes") */
	uint64_t value;
	uint8_t component; /* enum model_component */
	uint8_t index;     /* which cache or TLB; else 0 */
	uint8_t count;     /* of the component's enum */
	bool twinned;      /* a level of two TLBs, each for a page size: the count is the sum of theirs */
	uint8_t twin;      /* which the other one is */
};

/* False when the machine has no such thing: why[size] says so ("power3 as declared has no L3"), as it does of a
 * name that means nothing. */
bool component_find(const struct machine *machine, const char *name, struct component_place *out, char *why,
		    size_t size);

uint64_t component_value(const struct component_place *place, const struct model_counts *counts);

#endif

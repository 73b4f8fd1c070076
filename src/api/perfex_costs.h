/* The costs that print_costs() multiplies with. */
#ifndef TARE_API_PERFEX_COSTS_H
#define TARE_API_PERFEX_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "explain/event_costs.h"

/* Takes a file's costs for all threads, in place of those that were loaded before. On failure those stay. */
bool perfex_costs_load(const char *path, struct error *err);

/* One of the two events of a call. */
struct perfex_costed {
	int number; /* perfex's; -1: another event, which is in no table */
	struct perfex_times times;
};

/* Fills in the times of both, and whose costs they are, from the file that was loaded, else from what `tare
 * calibrate --costs` kept for this machine. `modelled`: the counts are of a machine that tare models, so this
 * machine's costs are not theirs. False, with times that are all NAN: no costs are known. */
bool perfex_costs_find(struct perfex_costed *pair, size_t n, bool modelled, char *title, size_t title_bytes,
		       struct error *err);

#endif

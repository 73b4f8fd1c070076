/* tare calibrate --costs: what cache misses, mispredictions, page faults … cost on this machine. */
#ifndef TARE_CLI_CALIBRATE_COSTS_H
#define TARE_CLI_CALIBRATE_COSTS_H

#include <stdbool.h>

#include "explain/costs.h"

struct calibrate_costs_asked {
	bool quick, dry;
	double confidence;
	const char *output; /* NULL: where 'tare explain' looks */
};

/* Measures, shows and saves; returns tare's exit code. */
int calibrate_costs(const struct calibrate_costs_asked *asked);

/* Measures alone. The costs are the caller's; on failure *costs holds nothing. */
bool calibrate_costs_take(bool quick, double confidence, struct costs *costs, struct error *err);

#endif

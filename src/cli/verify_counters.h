/* The part of tare verify that judges counters. */
#ifndef TARE_CLI_VERIFY_COUNTERS_H
#define TARE_CLI_VERIFY_COUNTERS_H

#include <stdbool.h>

#include "session/counters.h"

struct verify_counters_request {
	struct counters_asked asked;
	struct keeping keeping;
	const char *output;
	bool json;
};

/* tare's exit code. */
int verify_counters_run(struct verify_counters_request *request);

#endif

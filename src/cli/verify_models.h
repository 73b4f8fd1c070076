/* `tare verify models`: a model against the counters of this machine. */
#ifndef TARE_CLI_VERIFY_MODELS_H
#define TARE_CLI_VERIFY_MODELS_H

#include <stdbool.h>

#include "session/keep.h"

struct verify_models_request {
	const char *on;      /* MODEL,COUNTERS; NULL: model:host,perf */
	const char *kernels; /* NULL: those of the grid */
	const char *events;  /* NULL: all that both count */
	const char *output;  /* NULL: standard output */
	bool quick, json;
	const struct keeping *keeping;
};

int verify_models_run(const struct verify_models_request *request);

#endif

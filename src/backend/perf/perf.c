#include "backend/perf/perf.h"

#include <stdlib.h>

#include "backend/perf/probe/regions.h"
#include "backend/perf/sample/sampling.h"
#include "backend/perf/state.h"

static bool perf_open(const char *argument, struct backend **out, struct error *err)
{
	*out = NULL;
	if (argument)
		return error_set(err, ERROR_USAGE, "the backend 'perf' takes no argument: '%s'", argument);
	struct backend *backend = calloc(1, sizeof *backend);
	if (!backend)
		return error_no_memory(err);
	backend->machine = event_machine_host();
	*out = backend;
	return true;
}

static void perf_close(struct backend *backend)
{
	if (!backend)
		return;
	answers_free(backend);
	region_bias_free(backend->bias);
	free(backend);
}

const struct backend_operations perf_backend = {
	.name = "perf",
	.summary = "the kernel's counters: hardware, where there is a PMU, and software events",
	.regions = true,
	.open = perf_open,
	.close = perf_close,
	.available = perf_available,
	.fits = perf_fits,
	.prepare = perf_prepare,
	.process = perf_process,
	.go = perf_go,
	.turn = perf_turn,
	.read_running = perf_read_running,
	.stop = perf_stop,
	.end = perf_end,
	.sampling = &perf_sampling,
	.diagnose = perf_diagnose,
};

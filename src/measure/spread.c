/* What the repetitions' values are beside their mean: min, median, max and standard deviation of each estimate. */
#include <math.h>

#include "measure/measurement.h"
#include "stats/stats.h"

static void describe(struct estimate *e)
{
	e->run_min = stats_quantile(e->runs, e->n_runs, 0);
	e->run_median = stats_median(e->runs, e->n_runs);
	e->run_max = stats_quantile(e->runs, e->n_runs, 1);
	e->run_sd = stats_sd(e->runs, e->n_runs);
}

void measurement_describe_runs(struct measurement *s)
{
	struct result *result = s->result;
	for (size_t i = 0; i < result->n_estimates; i++)
		describe(&result->estimates[i]);
	for (size_t i = 0; i < result->n_metrics; i++)
		describe(&result->metrics[i]);
	for (size_t r = 0; r < result->n_regions; r++)
		for (size_t i = 0; i < result->regions[r].n_estimates; i++)
			describe(&result->regions[r].estimates[i]);
}

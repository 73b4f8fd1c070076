/* Which events can count at the same time? Those of the operating system always can; counters of hardware are few,
 * some count some events only, and somebody else may hold one: only a trial can tell. */
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/pmu.h"
#include "backend/perf/state.h"
#include "backend/perf/trial/trial.h"

/* No PMU that Linux knows has more; a request for thousands need not open thousands. */
enum { COUNTERS_MOST = 256 };

static bool never_short(const struct answer *answer) { return answer->availability.source == SOURCE_OS; }

/* Of an event over several kinds of cores the variant of the core that tare runs on: the trial is made there. */
static const struct variant *variant_here(const struct answer *answer)
{
	const struct variants *variants = &answer->variants;
	int cpu = sched_getcpu();
	for (size_t i = 0; i < variants->n; i++)
		if (pmu_list_has(variants->items[i].cpus, cpu))
			return &variants->items[i];
	return &variants->items[0];
}

bool perf_fits(struct backend *backend, const struct event *const *events, size_t n)
{
	struct counter_request *requests = malloc((n + 1) * sizeof *requests);
	int *cpus = malloc((n + 1) * sizeof *cpus);
	size_t scarce = 0;
	bool fits = requests && cpus;
	for (size_t i = 0; fits && i < n; i++) {
		const struct answer *answer = answer_find(backend, events[i]);
		if (!answer || (answer->availability.state != READING_COUNTED &&
				answer->availability.state != READING_UNPROVEN)) {
			fits = false;
		} else if (!never_short(answer)) {
			const struct variant *variant = variant_here(answer);
			requests[scarce] = (struct counter_request){.encoding = &variant->encoding,
								    .levels = answer->open_levels};
			cpus[scarce++] = answer->variants.whole_cpus ? pmu_list_first(variant->cpus)
								     : COUNTER_ANY_CPU;
		}
	}
	/* one that works, works alone */
	if (fits && scarce > 1)
		fits = scarce <= COUNTERS_MOST && trial_fits(requests, cpus, scarce);
	free(requests);
	free(cpus);
	return fits;
}

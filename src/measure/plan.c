/* Splitting events into groups that can be counted at the same time, each all the time.
 *
 * First-fit: each event joins the first group that still fits with it. Counters are not a bin of one size (some
 * events count on some counters only), so that only the backend can say what fits, by trial; first-fit keeps the
 * order of the request within each group. Only the newest OPEN_GROUPS groups are tried: older ones are as good as
 * full, and a list of thousands of events would otherwise need millions of trials. */
#include "measure/measure.h"

#include <stdlib.h>

enum { OPEN_GROUPS = 16 };

bool measure_fits(const struct backend_operations *operations, struct backend *backend,
		  const struct event *const *events, size_t n, bool regions)
{
	if (!regions)
		return operations->fits(backend, events, n);
	const struct event **both = malloc((2 * n + 1) * sizeof *both);
	for (size_t i = 0; both && i < 2 * n; i++)
		both[i] = events[i % n];
	bool fits = both && operations->fits(backend, both, 2 * n);
	free(both);
	return fits;
}

size_t measure_plan(const struct backend_operations *operations, struct backend *backend,
		    const struct event *const *events, size_t n, bool regions, size_t *group_of)
{
	size_t groups = 0;
	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		group_of[i] = 0;
	if (measure_fits(operations, backend, events, n, regions))
		return 1; /* the common case: one trial in all */

	const struct event **trial = malloc(n * sizeof *trial);
	if (!trial) { /* a group each is always right, only slow */
		for (size_t i = 0; i < n; i++)
			group_of[i] = i;
		return n;
	}
	for (size_t i = 0; i < n; i++) {
		size_t group = groups > OPEN_GROUPS ? groups - OPEN_GROUPS : 0;
		for (; group < groups; group++) {
			size_t members = 0;
			for (size_t j = 0; j < i; j++)
				if (group_of[j] == group)
					trial[members++] = events[j];
			trial[members++] = events[i];
			if (measure_fits(operations, backend, trial, members, regions))
				break;
		}
		group_of[i] = group;
		if (group == groups)
			groups++;
	}
	free(trial);
	return groups;
}

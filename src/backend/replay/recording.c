/* What can be asked of a recording; reading one is in read.c. */
#include "backend/replay/recording.h"

#include <string.h>

void recording_free(struct recording *recording)
{
	arena_free(&recording->arena);
	*recording = (struct recording){0};
}

/* Finds a counter for one event, moving others to other counters where that helps: one step of the classical
 * augmenting-path matching (Kuhn 1955; Cormen et al., Introduction to Algorithms, "maximum bipartite matching").
 */
static bool seat(const struct recording *r, const size_t *events, size_t which, size_t *holder, uint64_t *tried)
{
	uint64_t allowed = r->events[events[which]].on_counters;
	for (size_t counter = 0; counter < r->counters; counter++) {
		uint64_t bit = (uint64_t)1 << counter;
		if (!(allowed & bit) || (*tried & bit))
			continue;
		*tried |= bit;
		if (holder[counter] == SIZE_MAX || seat(r, events, holder[counter], holder, tried)) {
			holder[counter] = which;
			return true;
		}
	}
	return false;
}

bool recording_fits(const struct recording *r, const size_t *events, size_t n)
{
	size_t holder[RECORDING_COUNTERS_MOST], seated = 0;
	if (!r->limited)
		return true;
	for (size_t i = 0; i < RECORDING_COUNTERS_MOST; i++)
		holder[i] = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		uint64_t tried = 0;
		if (!r->events[events[i]].takes_counter)
			continue;
		if (++seated > r->counters || !seat(r, events, i, holder, &tried))
			return false;
	}
	return true;
}

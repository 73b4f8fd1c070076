#include "backend/model/sampling.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/core/sample.h"

enum { GROUPS_LEAST = 16, DRAWN_LEAST = 4 };

/* ---- which machines ---- */

static bool refuse(const struct machine *machine, const char *why, struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED, "the sets of '%s' cannot be sampled: %s", machine->name, why);
	return error_hint(err, "leave out --sampled: then all sets are modelled");
}

/* Groups that all its caches have; 0: refused. */
static unsigned groups_of(const struct machine *machine, unsigned shift, struct error *err)
{
	uint64_t groups = SAMPLE_RESIDUES;
	for (unsigned c = 0; c < machine->n_caches; c++) {
		const struct machine_cache *is = &machine->caches[c];
		if (is->victim_lines)
			return refuse(machine, "a victim buffer holds lines of all of them", err);
		if (is->prefetch != PREFETCH_NONE)
			return refuse(machine, "its prefetchers go from one to another", err);
		if (is->replacement == REPLACE_RANDOM || is->replacement == REPLACE_BRRIP)
			return refuse(machine,
				      "its replacement draws one sequence of random numbers for all of them", err);
		while (groups && (uint64_t)is->sets * is->line_bytes % (groups << shift))
			groups /= 2;
	}
	if (!machine->n_caches)
		return refuse(machine, "it has no cache", err);
	if (groups < GROUPS_LEAST)
		return refuse(machine, "a cache has too few of them", err);
	return (unsigned)groups;
}

bool sampling_choose(const struct machine *machine, unsigned share, uint64_t seed, struct model_options *options,
		     struct error *err)
{
	struct random random = {seed};
	unsigned shift = 0, left, groups;
	for (unsigned c = 0; c < machine->n_caches; c++)
		if (1u << shift < machine->caches[c].line_bytes)
			shift = (unsigned)__builtin_ctz(machine->caches[c].line_bytes);
	if (!(groups = groups_of(machine, shift, err)))
		return false;
	left = groups / share;
	if (left < DRAWN_LEAST) {
		error_set(err, ERROR_USAGE,
			  "--sampled=1/%u: '%s' has %u groups of sets, and at least %u are to be modelled", share,
			  machine->name, groups, DRAWN_LEAST);
		return error_hint(err, "--sampled=1/%u", groups / DRAWN_LEAST);
	}
	options->sample_shift = (uint8_t)shift;
	options->sample_groups = (uint8_t)groups;
	/* each with probability left / (groups - g): Knuth's algorithm S */
	for (unsigned g = 0; g < groups; g++) {
		if (random_u64(&random) % (groups - g) >= left)
			continue;
		left--;
		for (unsigned residue = g; residue < SAMPLE_RESIDUES; residue += groups)
			options->sample |= 1ull << residue;
	}
	return true;
}

unsigned sampling_drawn(const struct model_options *options)
{
	return (unsigned)__builtin_popcountll(options->sample) * options->sample_groups / SAMPLE_RESIDUES;
}

/* ---- what was counted ---- */

void sampling_sum(const struct model_options *options, const struct model_counts *counts, struct model_counts *sum)
{
	const struct model_counts *groups = counts + options->sample_counts;
	*sum = *counts;
	for (unsigned g = 0; g < sampling_drawn(options); g++)
		for (size_t i = 0; i < sizeof *sum / sizeof(uint64_t); i++)
			((uint64_t *)sum)[i] += ((const uint64_t *)&groups[g])[i];
}

/* Accesses of the first caches are counted of all sets. */
static bool is_unsampled(const struct machine *machine, const struct model_watch *w)
{
	return w->count <= CACHE_FETCHES &&
	       (w->index == machine->first_data || w->index == machine->first_instruction);
}

bool sampling_read(const struct model_event *event, const struct machine *machine,
		   const struct model_options *options, const struct model_counts *counts, struct arena *arena,
		   struct reading *r, const char **why)
{
	const struct model_counts *group = counts + options->sample_counts;
	struct model_watch watches[MODEL_WATCHES];
	unsigned drawn = sampling_drawn(options);
	uint8_t minus;
	size_t n;
	double sum = 0, *y = arena_alloc(arena, drawn * sizeof *y);
	bool sampled = false;
	*why = "not estimated: only caches are sampled; TLBs, branches and classes of misses need the whole: "
	       "count it without --sampled";
	if (model_event_classifies(event) || model_event_orders(event) || model_event_shares(event) ||
	    model_event_uses(event, MODEL_TLB) || model_event_uses(event, MODEL_BRANCH) ||
	    model_event_uses(event, MODEL_STREAM))
		return false;
	*why = "not estimated: it is not a sum of what caches count; count it without --sampled";
	if (!(n = model_event_watches(event, watches, MODEL_WATCHES, &minus)))
		return false;
	*why = "out of memory";
	if (!y)
		return false;
	memset(y, 0, drawn * sizeof *y);
	for (size_t w = 0; w < n; w++) {
		double sign = minus >> w & 1 ? -1 : 1;
		if (is_unsampled(machine, &watches[w])) {
			r->unsampled += sign * (double)counts->cache[watches[w].index][watches[w].count];
			continue;
		}
		sampled = true;
		for (unsigned g = 0; g < drawn; g++)
			y[g] += sign * (double)group[g].cache[watches[w].index][watches[w].count];
	}
	for (unsigned g = 0; g < drawn; g++)
		sum += y[g];
	r->source = sampled && drawn < options->sample_groups ? SOURCE_SAMPLED : SOURCE_MODEL;
	r->groups = y;
	r->n_groups = drawn;
	r->of_groups = options->sample_groups;
	r->count_raw = (uint64_t)fmax(0, floor(r->unsampled + sum * options->sample_groups / drawn + 0.5));
	return true;
}

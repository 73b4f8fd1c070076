/* The regions of an execution as readings: what is known of each, and why of some nothing is. */
#include <string.h>

#include "backend/engine/counting_internal.h"

/* Why no count of the region is known; NULL. */
static const char *region_unknown(const struct execution_regions *regions, const struct counted_region *region)
{
	const char *why = regions->why ? regions->why : !region->asked ? regions->why_named : NULL;
	if (!why && !region->asked && region->open)
		why = "it was entered more often than left (a longjmp, an exception, a thread or the program "
		      "ended inside): the end of that pass is unknown";
	if (!why && region->switched)
		why = "a thread switched to another stack in it (a coroutine, a user-level thread): which "
		      "instructions there belong to the region is unknown";
	return why;
}

/* Of a region alone: what is not known of another may be in this one. */
static const char *alone_unknown(const struct execution_regions *regions)
{
	const char *why = regions->alone_why;
	for (size_t i = 0; i < regions->n && !why; i++)
		if (!regions->all[i].hidden && region_unknown(regions, &regions->all[i]))
			why = "where another region, which may lie in this one, ended is unknown";
	return why;
}

struct reading counting_reading_in(const struct counting *c, const struct execution_event *event,
				   const struct tally *tally, const struct execution_regions *regions,
				   const struct counted_region *region, bool alone, uint64_t ns)
{
	struct reading r = {
		.state = READING_COUNTED, .source = SOURCE_EXACT, .enabled_ns = ns, .running_ns = ns, .cpu = -1};
	const uint64_t *count = alone ? region->alone : region->count;
	const struct model_counts *models = alone ? region->models_alone : region->models;
	const char *why = region_unknown(regions, region);
	if (!why && alone)
		why = alone_unknown(regions);
	if (!event->exact && !event->modelled)
		return counting_failed("the engine does not count it");
	if (!why && (event->modelled || exact_event_needs_trace(event->exact)))
		why = tally->models_why ? tally->models_why : regions->models_why;
	if (counting_of_process(event)) {
		r = counting_failed(
			"it is known for the whole program only: distinct lines cannot be added up over regions");
		r.state = READING_UNSUPPORTED;
		return r;
	}
	if (!why && event->exact)
		why = exact_event_unknown(event->exact, tally);
	if (why)
		return counting_failed(why);
	if (counting_is_left_out(c, event) || (event->modelled && c->models.estimate))
		return counting_failed(
			"sets of caches are sampled, and regions have no estimates; count it without --sampled");
	if (event->exact)
		return exact_event_value(event->exact, count, &r.count_raw)
			       ? r
			       : counting_failed("the count does not fit in 64 bits");
	r.source = SOURCE_MODEL;
	r.machine = c->models.name(c->models.context, event->machine);
	return c->models.value(c->models.context, event->modelled, &models[event->machine], &r.count_raw, &why)
		       ? r
		       : counting_failed(why);
}

static bool fill_region(const struct counting *c, struct run *run, const struct tally *tally,
			const struct execution_regions *regions, size_t i, bool alone, uint64_t ns)
{
	const struct counted_region *from = &regions->all[i];
	struct run_region *to = &run->regions[run->n_regions++];
	*to = (struct run_region){.kind = REGION_LIBRARY,
				  .text = "libtare",
				  .entries = from->entries,
				  .exits = from->exits,
				  .unbalanced = from->unbalanced,
				  .threads = from->threads};
	if (from->asked) {
		to->kind = c->asked[i].kind;
		to->name = arena_strdup(&run->arena, c->asked[i].name);
		to->text = arena_strdup(&run->arena, c->asked[i].text);
	} else {
		char *name = arena_alloc(&run->arena, from->name_bytes + 1);
		if (name)
			memcpy(name, from->name, from->name_bytes);
		to->name = name;
	}
	to->exclusive = alone;
	if (alone && to->name && to->text) {
		bool same = strcmp(to->name, to->text) == 0;
		to->name = arena_printf(&run->arena, "%s" REGION_EXCLUSIVE, to->name);
		to->text = same ? to->name : to->text;
	}
	to->readings = arena_alloc(&run->arena, (c->n + 1) * sizeof *to->readings);
	if (!to->name || !to->text || !to->readings)
		return false;
	for (size_t e = 0; e < c->n; e++) {
		struct reading *r = &to->readings[e];
		*r = counting_reading_in(c, &c->events[e], tally, regions, from, alone, ns);
		if ((r->why && !(r->why = arena_strdup(&run->arena, r->why))) ||
		    (r->machine && !(r->machine = arena_strdup(&run->arena, r->machine))))
			return false;
	}
	return true;
}

bool counting_fill_regions(const struct counting *c, struct run *run, const struct tally *tally,
			   const struct execution_regions *regions, uint64_t ns)
{
	run->regions = arena_alloc(&run->arena, (2 * regions->n + 1) * sizeof *run->regions);
	run->n_regions = 0;
	for (unsigned alone = 0; alone <= regions->exclusive; alone++)
		for (size_t i = 0; run->regions && i < regions->n; i++)
			if (!regions->all[i].hidden && !fill_region(c, run, tally, regions, i, alone, ns))
				return false;
	return run->regions && (!regions->lost || counting_add_remark(run, NOTE_ACT, regions->lost));
}

/*
 * Which levels can have a queue, and when it is carried out: see request_queue.h.
 *
 * Equals   cache_request(), cache_write_back() of cache/hierarchy.c
 * For      requests_levels()
 * Test     tests/model/requests_test.c
 */
#include "model/core/fast/simple_loop.h"
#include "model/core/fast/request_loop.h"

unsigned requests_levels(const struct machine *machine, const struct model_options *options,
			 uint8_t caches[REQUESTS_LEVELS])
{
	const unsigned first[2] = {machine->first_instruction, machine->first_data};
	unsigned at = MACHINE_NONE, n = 0;
	if (options->sample)
		return 0; /* what waits would count for another group */
	uint32_t most = 0, written = machine->first_data == MACHINE_NONE
					     ? 0
					     : machine->caches[machine->first_data].line_bytes;
	for (unsigned c = 0; c < machine->n_caches; c++)
		if (machine->caches[c].inclusion == INCLUSION_INCLUSIVE ||
		    machine->caches[c].prefetch != PREFETCH_NONE)
			return 0; /* a first cache may lose lines to it, or it may ask in between */
	for (unsigned i = 0; i < 2; i++) {
		const struct machine_cache *is = first[i] == MACHINE_NONE ? NULL : &machine->caches[first[i]];
		if (!is)
			continue;
		if (is->line_bytes < REQUESTS_LINE_LEAST)
			return 0;
		if (is->next == MACHINE_NONE || (at != MACHINE_NONE && is->next != at))
			return 0; /* two levels would have to keep one order */
		at = is->next;
		most = is->line_bytes > most ? is->line_bytes : most;
	}
	for (; at != MACHINE_NONE && n < REQUESTS_LEVELS; at = machine->caches[at].next) {
		const struct machine_cache *is = &machine->caches[at];
		struct model_memory none = {0};
		struct cache cache;
		cache_init(&cache, &none, machine, options, at, false);
		if (!cache.simple || !cache.main.ordered || is->line_bytes < most ||
		    (n && (is->line_bytes != most || written != most)))
			break; /* of larger lines behind larger lines parts would be written back */
		most = is->line_bytes;
		caches[n++] = (uint8_t)at;
	}
	return n;
}

void requests_begin(struct core *core)
{
	struct model *model = core->model;
	if (model->waits && model->waits != core)
		core_settle(model->waits);
	if (core->levels && model->simple && model->plans && !model->n_watches && !model->objects &&
	    !core->calls && !model->snoops)
		core->requests = core->levels;
	else
		core_settle(core);
	model->waits = core;
}

void requests_run(struct core *core, struct request_queue *level) { run_level(core, level); }

void core_settle(struct core *core)
{
	for (struct request_queue *level = core->requests; level; level = level->next)
		if (level->n)
			core->model->vectors ? requests_run_saved(core, level) : requests_run(core, level);
	core->requests = NULL;
	if (core->model->waits == core)
		core->model->waits = NULL;
}

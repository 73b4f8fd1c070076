/* What an execution can say besides its counts: basic blocks, system calls, inputs, places. */
#include "backend/engine/blocks.h"
#include "backend/engine/called.h"
#include "backend/engine/counting_internal.h"
#include "backend/engine/inputs.h"
#include "backend/engine/syscalls.h"

static bool ran_natively(struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "the program did not run under the engine: no requested event needs it");
}

bool counting_blocks(struct counting *c, enum blocks_by by, struct str *out, struct error *err)
{
	static const enum blocks_groups groups[] = {[BLOCKS_OF_ALL] = BLOCKS_TOGETHER,
						    [BLOCKS_OF_PROCESSES] = BLOCKS_BY_PROCESS,
						    [BLOCKS_OF_THREADS] = BLOCKS_BY_THREAD};
	struct view *view = NULL;
	struct blocks *blocks = NULL;
	bool done = false;
	if (!c->injection)
		return ran_natively(err);
	if (!view_new(c->injection, &view, err) || !blocks_new(view, c->children, groups[by], &blocks, err))
		goto out;
	if (blocks->why) {
		error_set(err, ERROR_UNSUPPORTED, "no basic blocks: %s", blocks->why);
		goto out;
	}
	blocks_write(blocks, groups[by], out);
	done = true;
out:
	blocks_free(blocks);
	view_free(view);
	return done;
}

bool counting_system_calls(struct counting *c, struct str *out, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = false;
	if (!c->injection)
		return ran_natively(err);
	if (!counting_look(c, false, &view, &tally, NULL, err))
		goto out;
	if (tally->why) {
		error_set(err, ERROR_UNSUPPORTED, "no system calls: %s", tally->why);
		goto out;
	}
	syscalls_write(view, c->children, &c->clock, out);
	done = called_write(view, c->children, &c->clock, out) || error_no_memory(err);
out:
	tally_free(tally);
	view_free(view);
	return done;
}

bool counting_inputs(struct counting *c, struct str *out, struct error *err)
{
	struct view *view = NULL;
	if (!c->injection)
		return ran_natively(err);
	if (!view_new(c->injection, &view, err))
		return false;
	inputs_write(view, c->children, out);
	inputs_write_code(view, c->children, out);
	view_free(view);
	return true;
}

/* What is not known of one of the regions has no places in them either. */
static bool check_inside(const struct counting *c, const struct tally *tally,
			 const struct execution_regions *regions, struct locations *out)
{
	for (size_t i = 0; i < out->n_events; i++)
		for (size_t r = 0; r < c->n_asked && !out->events[i].why; r++) {
			const struct reading reading = counting_reading_in(c, &c->events[i], tally, regions,
									   &regions->all[r], false, 0);
			if (reading.state != READING_COUNTED &&
			    !(out->events[i].why = arena_printf(&out->arena, "in %s: %s", c->asked[r].name,
								reading.why)))
				return false;
		}
	return true;
}

bool counting_locations(struct counting *c, struct locations *out, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct execution_regions *regions = NULL;
	bool done = false;
	*out = (struct locations){0};
	if (!c->injection || c->plan.of == LOCATIONS_NONE)
		return ran_natively(err);
	if (!counting_look(c, false, &view, &tally, c->inside ? &regions : NULL, err))
		goto out;
	if (tally->why) {
		error_set(err, ERROR_UNSUPPORTED, "no places: %s", tally->why);
		goto out;
	}
	done = locations_fill(&c->plan, view, c->children, regions, c->events, c->n, out, err);
	if (done && c->inside && !check_inside(c, tally, regions, out))
		done = error_no_memory(err);
	if (done && c->calls && !calls_fill(view, c->children, out))
		done = error_no_memory(err);
	if (done && c->calls_why && !(out->arcs_why = arena_strdup(&out->arena, c->calls_why)))
		done = error_no_memory(err);
	/* an event that has no count has no places either */
	for (size_t i = 0; done && i < out->n_events; i++) {
		const struct execution_event *event = &c->events[i];
		const char *why = event->exact ? exact_event_unknown(event->exact, tally) : tally->models_why;
		if (why && !out->events[i].why && !(out->events[i].why = arena_strdup(&out->arena, why)))
			done = error_no_memory(err);
	}
	if (!done)
		locations_free(out);
out:
	regions_free(regions);
	tally_free(tally);
	view_free(view);
	return done;
}

#include "backend/engine/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/events.h"
#include "backend/engine/locations.h"
#include "base/hash.h"
#include "base/vec.h"
#include "engine/inject/injection.h"
#include "engine/wire/calls.h"

/* ---- before the start ---- */

/* What the stream of blocks tells of: the encodings' counts, taken branches and iterations. */
static bool is_followed(const struct exact_event *event)
{
	for (const uint8_t *p = event->plus; *p; p++)
		if (*p - 1 >= COUNT_STATIC && *p - 1 != COUNT_TAKEN && *p - 1 != COUNT_ITERATIONS)
			return false;
	return !event->minus || event->minus == COUNT_TAKEN + 1;
}

const char *calls_plan(const struct execution_event *events, size_t n, const struct location_plan *plan,
		       struct record_call_event out[RECORD_CALL_EVENTS], char text[CALLS_WHY_BYTES])
{
	_Static_assert(sizeof out->plus == sizeof events->exact->plus, "the same sum");
	if (plan->period)
		return "a simulated counter overflows: samples are not counted per call; leave out -c";
	if (n > RECORD_CALL_EVENTS) {
		snprintf(text, CALLS_WHY_BYTES,
			 "one run follows calls for %u events at most, and %zu are asked for", RECORD_CALL_EVENTS,
			 n);
		return text;
	}
	for (size_t i = 0; i < n; i++) {
		const struct exact_event *exact = events[i].exact;
		out[i] = (struct record_call_event){.parts = plan->events[i].parts,
						    .parts_minus = plan->events[i].minus};
		if (plan->events[i].why) /* it has no places either, and says so */
			continue;
		if (!out[i].parts && !is_followed(exact)) {
			snprintf(text, CALLS_WHY_BYTES,
				 "%s are known when the program has ended, not at each call: leave that event out",
				 exact->name);
			return text;
		}
		if (!out[i].parts) {
			memcpy(out[i].plus, exact->plus, sizeof out[i].plus);
			out[i].minus = exact->minus;
		}
	}
	return NULL;
}

/* ---- when the program has ended ---- */

struct calls_fill {
	struct locations *out;
	size_t capacity;
	struct hash_index arcs, texts;
	VEC(const char *) names;
	const char *modules[RECORD_CALL_MODULES]; /* of the process that is looked at */
	uint32_t pid;                             /* its */
};

static const char *intern(struct calls_fill *fill, const char *text)
{
	uint64_t hash = hash_text(HASH_BEGIN, text);
	struct hash_search search = hash_find(&fill->texts, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(fill->names.items[i], text) == 0)
			return fill->names.items[i];
	const char *kept = arena_strdup(&fill->out->arena, text);
	if (!kept || !vec_push(&fill->names, kept) ||
	    !hash_add(&fill->texts, hash, (uint32_t)fill->names.count - 1))
		return NULL;
	return kept;
}

/* The arc's, which is new or known already; NULL when memory ran out. Modules are interned. */
static struct location_arc *arc_of(struct calls_fill *fill, const struct location_arc *wanted)
{
	struct locations *out = fill->out;
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, (uintptr_t)wanted->caller), wanted->caller_offset);
	hash = hash_number(hash_number(hash, (uintptr_t)wanted->callee), wanted->callee_offset);
	hash = hash_number(hash_number(hash, wanted->caller_pid), wanted->callee_pid);
	struct hash_search search = hash_find(&fill->arcs, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		struct location_arc *a = &out->arcs[i];
		if (a->caller == wanted->caller && a->callee == wanted->callee &&
		    a->caller_offset == wanted->caller_offset && a->callee_offset == wanted->callee_offset &&
		    a->caller_pid == wanted->caller_pid && a->callee_pid == wanted->callee_pid)
			return a;
	}
	struct location_arc arc = *wanted;
	if (!(arc.inclusive = arena_alloc(&out->arena, (out->n_events + 1) * sizeof *arc.inclusive)) ||
	    !vec_grow((void **)&out->arcs, &fill->capacity, out->n_arcs, sizeof arc) ||
	    !hash_add(&fill->arcs, hash, (uint32_t)out->n_arcs))
		return NULL;
	out->arcs[out->n_arcs] = arc;
	return &out->arcs[out->n_arcs++];
}

static void place(const struct calls_fill *fill, const struct record_module *modules, uint32_t n, uint32_t number,
		  uint64_t address, const char **module, uint64_t *offset, uint32_t *pid)
{
	const struct record_module *m = number < n ? &modules[number] : NULL;
	bool file = m && m->path[0];
	*module = file ? fill->modules[number] : "";
	*offset = file ? address - m->address + m->file_offset : address;
	*pid = file ? 0 : fill->pid;
}

static bool add_arc(struct calls_fill *fill, const struct record_calls *head, const struct record_module *modules,
		    const struct record_call_arc *from)
{
	struct location_arc wanted = {0}, *arc;
	const char *anonymous = intern(fill, "");
	place(fill, modules, head->n_modules, from->callee_module, from->callee, &wanted.callee,
	      &wanted.callee_offset, &wanted.callee_pid);
	if (from->site != RECORD_NO_SITE)
		place(fill, modules, head->n_modules, from->site_module, from->site, &wanted.caller,
		      &wanted.caller_offset, &wanted.caller_pid);
	if (wanted.callee && !wanted.callee[0])
		wanted.callee = anonymous;
	if (wanted.caller && !wanted.caller[0])
		wanted.caller = anonymous;
	if (!anonymous || !(arc = arc_of(fill, &wanted)))
		return false;
	arc->calls += from->calls;
	for (size_t e = 0; e < fill->out->n_events && e < head->n_events; e++)
		arc->inclusive[e] +=
			from->inclusive[e]; /* one that does not fit makes a sum that is not the count */
	return true;
}

static const char damaged[] = "the record of calls is damaged: the program wrote over it";

static const char *lost(uint32_t bits)
{
	return bits & RECORD_LOST_FRAMES ? "calls are nested too deeply for the engine's record of them"
	       : bits & RECORD_LOST_STACKS
		       ? "the program switches between more, or deeper, stacks than the engine's record holds"
	       : bits & RECORD_LOST_FUNCTIONS ? "the program has more functions than the engine keeps apart"
	       : bits & RECORD_LOST_BRANCHES
		       ? "the program has a conditional branch that leads to the next instruction whether it is "
			 "taken or not: count conditional-branches instead"
	       : bits ? "the program has more calls from different places than the engine's record holds"
		      : NULL;
}

/* False when memory ran out. */
static bool add_process(struct calls_fill *fill, const struct view_process *p)
{
	struct locations *out = fill->out;
	struct record_calls *head = injection_copy(p->injection, p->record->calls, sizeof *head);
	struct record_module *modules = NULL;
	struct record_call_arc *arcs = NULL;
	bool done = false;
	if (!head || head->n_modules > RECORD_CALL_MODULES || head->n_arcs > RECORD_CALL_ARCS ||
	    head->n_events != out->n_events || head->modules > RECORD_FILE_BYTES ||
	    head->arcs > RECORD_FILE_BYTES) {
		out->arcs_why = damaged;
		done = true;
		goto out;
	}
	fill->pid = p->record->pid;
	if (head->lost)
		out->arcs_why = lost(head->lost);
	modules = injection_copy(p->injection, p->record->calls + head->modules,
				 (uint64_t)head->n_modules * sizeof *modules + 1);
	arcs = injection_copy(p->injection, p->record->calls + head->arcs,
			      (uint64_t)head->n_arcs * sizeof *arcs + 1);
	if (!modules || !arcs)
		goto out;
	for (uint32_t i = 0; i < head->n_modules; i++) {
		char path[sizeof modules[i].path + 1] = "";
		memcpy(path, modules[i].path, sizeof modules[i].path);
		if (!(fill->modules[i] = intern(fill, path)))
			goto out;
	}
	done = true;
	for (uint32_t i = 0; done && i < head->n_arcs; i++)
		done = add_arc(fill, head, modules, &arcs[i]);
out:
	free(head);
	free(modules);
	free(arcs);
	return done;
}

bool calls_fill(const struct view *view, bool children, struct locations *out)
{
	struct calls_fill *fill = calloc(1, sizeof *fill);
	bool done = fill != NULL;
	if (fill)
		fill->out = out;
	for (size_t i = 0; done && i < view->n_processes && !out->arcs_why; i++) {
		const struct view_process *p = &view->processes[i];
		if (p->record->calls && p->record->state != RECORD_FREE && (children || !p->descendant))
			done = add_process(fill, p);
	}
	struct location_arc *kept = done ? arena_alloc(&out->arena, (out->n_arcs + 1) * sizeof *kept) : NULL;
	if (kept && out->n_arcs)
		memcpy(kept, out->arcs, out->n_arcs * sizeof *kept);
	free(out->arcs);
	out->arcs = kept;
	if (!kept || out->arcs_why)
		out->n_arcs = 0;
	if (kept && !out->n_arcs && !out->arcs_why)
		out->arcs_why = "no calls were recorded";
	if (fill) {
		hash_free(&fill->arcs);
		hash_free(&fill->texts);
		vec_free(&fill->names);
	}
	free(fill);
	return kept != NULL;
}

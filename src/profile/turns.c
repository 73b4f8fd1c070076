#include "profile/turns.h"

#include <stdlib.h>

enum { SLICES_MOST = 8192 }; /* then each two are joined: the memory is bounded, and turns are still many */

static const double CONFIDENCE = 0.95;

bool profile_turns_new(struct profile_turns *t, size_t n)
{
	t->n_events = n;
	t->slices = calloc(n + 1, sizeof *t->slices);
	t->samples = calloc(n + 1, sizeof *t->samples);
	t->squares = calloc(n + 1, sizeof *t->squares);
	return t->slices && t->samples && t->squares;
}

void profile_turns_free(struct profile_turns *t)
{
	for (size_t i = 0; t->slices && i < t->n_events; i++)
		vec_free(&t->slices[i]);
	free(t->slices);
	free(t->samples);
	free(t->squares);
}

static void join(struct slice *slices, size_t *n)
{
	for (size_t i = 0; i < *n / 2; i++)
		slices[i] = (struct slice){slices[2 * i].count + slices[2 * i + 1].count,
					   slices[2 * i].enabled_ns + slices[2 * i + 1].enabled_ns,
					   slices[2 * i].running_ns + slices[2 * i + 1].running_ns};
	*n /= 2;
}

bool profile_turns_add(void *context, uint64_t passed_ns, const struct sampled_turn *of, struct error *err)
{
	struct profile_turns *t = context;
	for (size_t i = 0; i < t->n_events; i++) {
		/* a moment passes between two readings */
		uint64_t running = of[i].running_ns < passed_ns ? of[i].running_ns : passed_ns;
		const struct slice slice = {(double)of[i].count, (double)passed_ns, (double)running};
		if (t->slices[i].count == SLICES_MOST)
			join(t->slices[i].items, &t->slices[i].count);
		if (!vec_push(&t->slices[i], slice))
			return error_no_memory(err);
		t->samples[i] += (double)of[i].samples;
		t->squares[i] += (double)of[i].samples * (double)of[i].samples;
	}
	return true;
}

static bool take(const struct profile_turns *t, struct profile *p, size_t i)
{
	struct profile_event *e = &p->events[i];
	double running = 0, enabled = 0;
	struct interval scaled;
	for (size_t k = 0; k < t->slices[i].count; k++) {
		running += t->slices[i].items[k].running_ns;
		enabled += t->slices[i].items[k].enabled_ns;
	}
	if (e->why)
		return true;
	if (!(running > 0)) {
		e->has_total = false;
		e->total = 0;
		return (e->why = arena_strdup(&p->arena,
					      "not counted: its set never had a turn, the program used too little "
					      "time. Take a shorter --switch-timeout")) != NULL;
	}
	e->part = running / enabled;
	e->turn_samples = t->samples[i] > 0 ? t->squares[i] / t->samples[i] : 1;
	if (e->has_total && stats_multiplex(t->slices[i].items, t->slices[i].count, CONFIDENCE, &scaled)) {
		e->has_scaled = true;
		e->scaled = scaled.value;
		e->scaled_low = scaled.low;
		e->scaled_high = scaled.high;
	}
	return true;
}

bool profile_turns_take(const struct profile_turns *t, struct profile *p)
{
	for (size_t i = 0; i < t->n_events; i++)
		if (!take(t, p, i))
			return false;
	return true;
}

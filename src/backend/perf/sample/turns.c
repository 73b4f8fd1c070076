#include "backend/perf/sample/turns.h"

#include <stdlib.h>

#include "backend/perf/sample/streams.h"

bool sampling_turns_new(struct sampling *s, struct error *err)
{
	struct sampling_turns *t = &s->turns;
	size_t n = s->request.n_events;
	if (!s->request.turn_ns)
		return true;
	for (size_t i = 0; i < n; i++)
		if (s->request.events[i].set >= t->n_sets)
			t->n_sets = s->request.events[i].set + 1;
	t->before = calloc(n + 1, sizeof *t->before);
	t->now = calloc(n + 1, sizeof *t->now);
	t->samples = calloc(n + 1, sizeof *t->samples);
	return (t->before && t->now && t->samples) || error_no_memory(err);
}

void sampling_turns_free(struct sampling_turns *t)
{
	free(t->before);
	free(t->now);
	free(t->samples);
}

void sampling_turns_begin(struct sampling *s)
{
	struct sampling_turns *t = &s->turns;
	if (!t->n_sets)
		return;
	t->began_ns = sample_streams_now(s, t->before);
	for (size_t i = 0; i < s->request.n_events; i++)
		t->before[i].samples = t->samples[i];
	t->length_ns = s->request.turn_ns / 2 + random_below(&s->random, s->request.turn_ns + 1);
	t->under_way = true;
}

bool sampling_turns_end(struct sampling *s, struct error *err)
{
	struct sampling_turns *t = &s->turns;
	if (!t->under_way)
		return true;
	t->under_way = false;
	uint64_t passed = sample_streams_now(s, t->now) - t->began_ns;
	for (size_t i = 0; i < s->request.n_events; i++) {
		struct sampled_turn *now = &t->now[i];
		now->count -= t->before[i].count;
		now->running_ns -= t->before[i].running_ns;
		now->samples = t->samples[i] - t->before[i].samples;
	}
	return !s->sink.turned || s->sink.turned(s->sink.turned_context, passed, t->now, err);
}

bool sampling_turns_over(const struct sampling *s)
{
	return s->turns.under_way && s->turns.n_sets > 1 &&
	       sample_streams_time(s) - s->turns.began_ns >= s->turns.length_ns;
}

void sampling_turns_next(struct sampling *s) { s->turns.current = (s->turns.current + 1) % s->turns.n_sets; }

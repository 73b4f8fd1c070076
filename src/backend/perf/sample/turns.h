/*
 * Sets of events that take turns: the events of one set are on, those of the others are off.
 *
 * What always holds:
 *  1. Time is the target's: what the tracking events ran. A program that sleeps uses up no turn.
 *  2. At the end of a turn its set is switched off and the rings are emptied before the next set is switched on:
 *     so the samples of a turn are known, and the time between two turns is in none.
 *  3. A turn takes half of turn_ns to one and a half, drawn at random: otherwise a program with a rhythm close to
 *     that of the turns would show each set another part of it, for good.
 *  4. The events of all streams are read: of tasks that were born since, the kernel adds theirs to their parent's.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_TURNS_H
#define TARE_BACKEND_PERF_SAMPLE_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sampling;
struct sampled_turn;

struct sampling_turns {
	uint32_t n_sets, current; /* n_sets 0: none, all events are on all the time */
	bool under_way;
	uint64_t began_ns; /* the target's time */
	uint64_t length_ns;
	struct sampled_turn *before; /* [n_events]: since the beginning, when the turn began */
	struct sampled_turn *now;
	uint64_t *samples; /* [n_events]: since the beginning */
};

bool sampling_turns_new(struct sampling *s, struct error *err);
void sampling_turns_free(struct sampling_turns *turns);
/* Sampling is on from now. */
void sampling_turns_begin(struct sampling *s);
/* … and off; the rings are empty. Tells the sink of the turn. */
bool sampling_turns_end(struct sampling *s, struct error *err);
/* Has the set on had its time, and is another to be on? */
bool sampling_turns_over(const struct sampling *s);
/* The next set's turn. The caller ends this one before, begins the next after. */
void sampling_turns_next(struct sampling *s);

#endif

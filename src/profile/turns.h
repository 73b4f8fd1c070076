/*
 * Event sets that take turns: from what each turn had to what the profile says of the whole time.
 *
 * A turn is a cluster of samples: all of them may be of one phase of the program. At worst a turn's samples say
 * no more than one would. A profile is then as sure as (sum m)^2 / (sum m^2) samples are (m: samples of a turn;
 * Kish: Survey Sampling, 1965, section 8.2), which is the samples divided by sum m^2 / sum m: what is kept here
 * as turn_samples.
 */
#ifndef TARE_PROFILE_TURNS_H
#define TARE_PROFILE_TURNS_H

#include "backend/sampling.h"
#include "base/vec.h"
#include "result/profile.h"
#include "stats/stats.h"

struct profile_turns {
	size_t n_events;
	VEC(struct slice) * slices; /* [n_events]; each event has the same turns */
	double *samples, *squares;  /* [n_events] */
};

bool profile_turns_new(struct profile_turns *turns, size_t n_events);
void profile_turns_free(struct profile_turns *turns);
/* sampling_sink's. */
bool profile_turns_add(void *turns, uint64_t passed_ns, const struct sampled_turn *of, struct error *err);
/* Of each event: its part of the time, its count scaled to all of it; or why it was not counted. */
bool profile_turns_take(const struct profile_turns *turns, struct profile *profile);

#endif

/*
 * Judges sampled profiles by an exact one of the same program: the arrays that profile/accuracy.h takes, out of
 * two struct profile.
 *
 * What always holds:
 *  1. Every sample of the event is in exactly one of judged, kernel, unmapped, elsewhere.
 *  2. Places are equal when they are in the same file, at the same offset; tasks and stacks do not count.
 */
#ifndef TARE_PROFILE_STUDY_H
#define TARE_PROFILE_STUDY_H

#include <stdbool.h>

#include "result/named_profile.h"
#include "result/profile.h"
#include "result/sampling_study.h"

/* The first event of either: of `exact` executed instructions, named; of `sampled` any. Does not set `period`.
 * False when memory ran out. */
bool study_judge(const struct profile *sampled, const struct named_profile *exact, struct sampling_accuracy *out);

/* The places of Figure 1, into out[STUDY_PLACES_MOST]: how many. SIZE_MAX when memory ran out. */
size_t study_places(const struct profile *sampled, const struct named_profile *exact, struct study_place *out);

/* Which of Wu and Mencer's findings hold in the programs that were studied, by sign tests over programs; at their
 * shortest period, where sizes are meant. Fills suite->findings. */
void study_add_findings(struct sampling_suite *suite);

/* A measure as an error: what rises when sampling gets worse. */
double study_error(const struct sampling_accuracy *accuracy, enum study_measure measure);

/* The trends over the study's periods, which ascend. */
void study_add_trends(struct sampling_study *study);

#endif

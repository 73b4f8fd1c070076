/* The events of a sampling: what was asked of each, whether it can be done here, and how. */
#ifndef TARE_BACKEND_PERF_SAMPLE_TRACKS_H
#define TARE_BACKEND_PERF_SAMPLE_TRACKS_H

#include "backend/perf/sample/streams.h"

/* Fills s->tracks. False when none of the events can be sampled (the last one's reason is in *err), or when the
 * request is wrong. cancelled: why the kernel stops counting the program (counter/cancel.h); NULL. */
bool sampling_find_tracks(struct sampling *s, const char *cancelled, struct error *err);

#endif

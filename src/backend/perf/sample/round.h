/*
 * A round of a sampling: what the kernel wrote is read, and what is certain to be in order is passed on.
 *
 *     rings ──► notes of samples, losses, tasks ──► window ──► in order of time, older than the round before ──► tell.h
 *                └ gaps are redrawn, events opened again, turns changed
 *
 * What always holds: what must be done at once (gaps, tasks that start) is done when the rings are emptied, not
 * when their records are passed on, a round later.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_ROUND_H
#define TARE_BACKEND_PERF_SAMPLE_ROUND_H

#include "backend/perf/sample/streams.h"

/* all: nothing is written any more, and every record is passed on. */
bool sampling_round(struct sampling *s, bool all, struct error *err);
/* Into the window, without passing anything on. */
bool sampling_empty_rings(struct sampling *s, struct error *err);

#endif

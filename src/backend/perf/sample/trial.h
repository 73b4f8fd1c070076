/* Does sampling of an event work here, and what does a sample cost? By trial, on tare's own thread. */
#ifndef TARE_BACKEND_PERF_SAMPLE_TRIAL_H
#define TARE_BACKEND_PERF_SAMPLE_TRIAL_H

#include "backend/perf/state.h"

/* COUNTED: samples arrive. *answer: how the event is opened; NULL when memory ran out. remedy: the one step that
 * would allow it, or "". */
void sampling_trial(struct backend *backend, const struct event *event, const struct answer **answer,
		    enum reading_state *state, char why[256], char remedy[256]);
double sampling_cost_ns(struct backend *backend, const struct event *event);

#endif

/* Does sampling of an event work here, and what does a sample cost? By trial, on tare's own thread. */
#ifndef TARE_BACKEND_PERF_SAMPLE_TRIAL_H
#define TARE_BACKEND_PERF_SAMPLE_TRIAL_H

#include "backend/perf/state.h"

/* COUNTED: samples arrive. *answer: how the event is opened; NULL when memory ran out. remedy: the one step that
 * would allow it, or "". */
void sampling_trial(struct backend *backend, const struct event *event, const struct answer **answer,
		    enum reading_state *state, char why[256], char remedy[256]);

/* The kernel's least gap of a clock: a shorter one is done as this one (perf_swevent_start_hrtimer()). */
enum { SAMPLING_CLOCK_LEAST_NS = 10000 };

/* cpu-clock and task-clock. The kernel counts them at all levels alike. */
bool sampling_is_clock(const struct event_encoding *encoding);
/* As struct sampling_operations has it. */
bool sampling_cost(struct backend *backend, const struct event *event, enum profile_stacks stacks,
		   uint32_t stack_bytes, struct sampling_cost *out);

#endif

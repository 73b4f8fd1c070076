/* A record out of the kernel's rings, decoded and passed on to the caller's sink. */
#ifndef TARE_BACKEND_PERF_SAMPLE_TELL_H
#define TARE_BACKEND_PERF_SAMPLE_TELL_H

#include "backend/perf/sample/streams.h"

/* Records are told in the order of time: probes' and tasks' records decide which samples are kept (bounds.h). */
bool sampling_tell(struct sampling *s, const struct perf_event_header *record, struct error *err);

extern const struct record_layout tracking_layout; /* of tracking events' records */

/* Sets the error of a record that cannot be decoded; returns false. */
bool sampling_malformed(const struct perf_event_header *record, struct error *err);

#endif

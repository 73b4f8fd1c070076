/* The engine's events by their names in data/events/: sums of the tally's counts. */
#ifndef TARE_BACKEND_ENGINE_EVENTS_H
#define TARE_BACKEND_ENGINE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/engine/tally.h"
#include "event/event.h"

struct exact_event {
	const char *name;    /* canonical */
	uint8_t plus[12];    /* enum exact_count + 1, ended by 0 */
	uint8_t minus;       /* likewise; 0: none */
	const char *why_not; /* not NULL: this engine does not count it, and why */
};

/* NULL: the engine has no such event. */
const struct exact_event *exact_event_find(const struct event *event);
size_t exact_event_count(void);
const struct exact_event *exact_event_at(size_t index);

/* Why the tally cannot say, or NULL. */
const char *exact_event_unknown(const struct exact_event *event, const struct tally *tally);
bool exact_event_uses(const struct exact_event *event, enum exact_count count);
/* Is it known of the access stream only, which slows the program down? */
bool exact_event_needs_trace(const struct exact_event *event);
/* False when the sum does not fit, or would be negative. */
bool exact_event_value(const struct exact_event *event, const uint64_t count[COUNTS], uint64_t *out);

#endif

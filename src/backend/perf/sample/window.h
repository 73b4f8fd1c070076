/*
 * Records of several buffers, in the order of time.
 *
 * Each CPU has a buffer of its own. In one round all of them are emptied into the window; what was written
 * before the round *before* began is then complete, since a record is in its buffer microseconds after its time
 * was taken, and can be given out in order. So the window holds two rounds, however long the sampling goes on.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_WINDOW_H
#define TARE_BACKEND_PERF_SAMPLE_WINDOW_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct window_entry {
	uint64_t time_ns, number; /* number: in the order of coming, for equal times */
	size_t at;                /* in bytes */
};

struct sample_window {
	VEC(struct window_entry) entries;
	uint8_t *bytes;
	size_t used, room;
	uint64_t number;
	size_t next; /* the entry that is given out next */
};

/* Keeps a copy: this one, valid until the next. NULL: memory ran out. */
struct perf_event_header *window_add(struct sample_window *window, uint64_t time_ns,
				     const struct perf_event_header *record);
/* Puts what is there in order; window_next() then gives what is older than before_ns. */
void window_sort(struct sample_window *window);
/* Aligned to 8 bytes, valid until window_add() or window_drop(); NULL: there is none that old. */
const struct perf_event_header *window_next(struct sample_window *window, uint64_t before_ns);
/* Forgets what was given out. */
void window_drop(struct sample_window *window);
void window_free(struct sample_window *window);

#endif

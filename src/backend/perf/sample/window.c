#include "backend/perf/sample/window.h"

#include <stdlib.h>
#include <string.h>

struct perf_event_header *window_add(struct sample_window *w, uint64_t time_ns,
				     const struct perf_event_header *record)
{
	size_t size = ((size_t)record->size + 7) & ~(size_t)7;
	if (w->used + size > w->room) {
		size_t room = w->room ? w->room * 2 : 1 << 16;
		while (room < w->used + size)
			room *= 2;
		uint8_t *bytes = realloc(w->bytes, room);
		if (!bytes)
			return NULL;
		w->bytes = bytes;
		w->room = room;
	}
	struct window_entry entry = {time_ns, w->number, w->used};
	if (!vec_push(&w->entries, entry))
		return NULL;
	void *copy = memcpy(w->bytes + w->used, record, record->size);
	w->used += size;
	w->number++;
	return copy;
}

static int by_time(const void *left, const void *right)
{
	const struct window_entry *a = left, *b = right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void window_sort(struct sample_window *w)
{
	if (w->entries.count > w->next)
		qsort(w->entries.items + w->next, w->entries.count - w->next, sizeof *w->entries.items, by_time);
}

const struct perf_event_header *window_next(struct sample_window *w, uint64_t before_ns)
{
	if (w->next == w->entries.count || w->entries.items[w->next].time_ns >= before_ns)
		return NULL;
	return (const void *)(w->bytes + w->entries.items[w->next++].at);
}

void window_drop(struct sample_window *w)
{
	size_t left = w->entries.count - w->next;
	if (w->next == 0)
		return;
	if (left == 0) {
		w->used = 0;
	} else {
		/* what stays moves to the front, in a block of its own: it is one round at most */
		size_t used = 0;
		uint8_t *bytes = malloc(w->room);
		if (!bytes)
			return; /* later, then */
		for (size_t i = 0; i < left; i++) {
			struct window_entry *entry = &w->entries.items[i];
			*entry = w->entries.items[w->next + i];
			const struct perf_event_header *record = (const void *)(w->bytes + entry->at);
			memcpy(bytes + used, record, record->size);
			entry->at = used;
			used += ((size_t)record->size + 7) & ~(size_t)7;
		}
		free(w->bytes);
		w->bytes = bytes;
		w->used = used;
	}
	w->entries.count = left;
	w->next = 0;
}

void window_free(struct sample_window *w)
{
	vec_free(&w->entries);
	free(w->bytes);
	*w = (struct sample_window){0};
}

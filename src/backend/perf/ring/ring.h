/*
 * The ring buffer that the kernel writes an event's records into: a page of facts, and a power of two of pages
 * with records behind it.
 *
 *     ring_begin ──► ring_next ──► … ──► NULL ──► ring_end
 *
 * What always holds:
 *  1. Records come as they were written, each whole: one that wraps around the buffer's end is put together in a
 *     copy. A record is valid until the next ring_next().
 *  2. The kernel may write over records only after ring_end().
 *  3. A record whose length is impossible (shorter than its header, not a multiple of 8, longer than what is
 *     there) breaks the ring: nothing behind it can be found, and ring_next() gives no more, ever.
 *  4. What records mean is the reader's business, also of those of unknown types.
 *
 * Source: perf_event_open(2), MMAP layout; the order of reading data_head and data is that of
 * linux/perf_event.h at data_head.
 */
#ifndef TARE_BACKEND_PERF_RING_RING_H
#define TARE_BACKEND_PERF_RING_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	uint8_t *data;
	size_t bytes;    /* of data; a power of two */
	uint8_t *joined; /* a record that wraps around the end */
	uint64_t head, tail;
	bool broken;
};

/* Maps the buffer of an event: `pages` (a power of two), or half of it, and so on down to 1, as the limit of
 * locked memory allows. False with errno: not even one page. */
bool ring_map(struct ring *ring, int fd, size_t pages);
void ring_unmap(struct ring *ring); /* a zeroed one is accepted */

/* What is there from now on is what ring_next() gives. */
void ring_begin(struct ring *ring);
/* The next record, aligned to 8 bytes; NULL: no more, or broken. */
const struct perf_event_header *ring_next(struct ring *ring);
/* What was read is the kernel's again. */
void ring_end(struct ring *ring);

#endif

#include "backend/perf/ring/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RECORD_BYTES_MOST = 65536 }; /* header.size has 16 bits */

bool ring_map(struct ring *ring, int fd, size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int reason = ENOMEM;
	*ring = (struct ring){.joined = malloc(RECORD_BYTES_MOST)};
	for (; ring->joined && pages >= 1; pages /= 2) {
		void *memory = mmap(NULL, (1 + pages) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		reason = errno;
		if (memory == MAP_FAILED && (reason == EPERM || reason == ENOMEM))
			continue; /* the limit of locked memory */
		if (memory == MAP_FAILED)
			break;
		ring->page = memory;
		ring->data = (uint8_t *)memory + page_bytes;
		ring->bytes = pages * page_bytes;
		return true;
	}
	ring_unmap(ring);
	errno = reason;
	return false;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->bytes + (size_t)(ring->data - (uint8_t *)ring->page));
	free(ring->joined);
	*ring = (struct ring){0};
}

void ring_begin(struct ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	ring->tail = ring->page->data_tail;
	/* the kernel never writes over what has not been read */
	ring->broken = ring->broken || ring->head - ring->tail > ring->bytes;
}

const struct perf_event_header *ring_next(struct ring *ring)
{
	if (ring->broken || ring->tail == ring->head)
		return NULL;
	/* records are multiples of 8 bytes: a header never wraps */
	size_t at = ring->tail & (ring->bytes - 1);
	const struct perf_event_header *header = (const void *)(ring->data + at);
	size_t size = header->size, room = ring->bytes - at;
	if (size < sizeof *header || size % 8 != 0 || size > ring->head - ring->tail) {
		ring->broken = true;
		return NULL;
	}
	ring->tail += size;
	if (size <= room)
		return header;
	memcpy(ring->joined, header, room);
	memcpy(ring->joined + room, ring->data, size - room);
	return (const void *)ring->joined;
}

void ring_end(struct ring *ring) { __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE); }

/* Ring buffers of any content: no crash, no read outside of a record; each record that is given is whole, and what is decoded of it lies within it.
 *
 *     input: 8 bytes (tail, bits of the layout), then the buffer
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/perf/ring/ring.h"
#include "backend/perf/sample/record.h"
#include "backend/perf/sample/window.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool within(const struct perf_event_header *record, const void *from, size_t bytes)
{
	const uint8_t *begin = (const uint8_t *)record, *at = from;
	return !from || (at >= begin && bytes <= record->size && at + bytes <= begin + record->size);
}

static void check_decoded(const struct perf_event_header *record, const struct record_layout *layout)
{
	struct record r;
	record_id(record);
	record_time(record);
	if (!record_decode(record, layout, &r))
		return;
	switch (r.kind) {
	case RECORD_SAMPLE:
		check(within(record, r.sample.callers, r.sample.n_callers * 8), "callers outside of the record");
		check(within(record, r.sample.stack, r.sample.stack_bytes), "a stack outside of the record");
		check(r.time_ns == record_time(record) && r.id == record_id(record),
		      "two times or ids of one sample");
		break;
	case RECORD_MAPPING:
		check(within(record, r.mapping.path, strlen(r.mapping.path) + 1), "a path outside of the record");
		check(r.mapping.build_id_bytes <= 20 &&
			      within(record, r.mapping.build_id, r.mapping.build_id_bytes),
		      "a build id outside of the record");
		break;
	case RECORD_NAME:
		check(within(record, r.task.name, strlen(r.task.name) + 1), "a name outside of the record");
		break;
	default: break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { BYTES = 4096 };
	uint64_t first = 0;
	if (size < 8 || size > 8 + BYTES)
		return 0;
	memcpy(&first, data, 8);
	uint64_t bits = first >> 16;
	const uint64_t more = PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	struct record_layout layout = {.sample_type = RECORD_COMMON | PERF_SAMPLE_IP | (bits & more),
				       .registers = record_registers()};
	/* blocks of their own, so that a sanitizer sees every byte too far */
	struct perf_event_mmap_page *page = calloc(1, sizeof *page);
	uint8_t *buffer = calloc(1, BYTES), *joined = malloc(65536);
	struct sample_window window = {0};
	if (page && buffer && joined) {
		struct ring ring = {.page = page, .data = buffer, .bytes = BYTES, .joined = joined};
		page->data_tail = first & 0xfff8;
		page->data_head = page->data_tail + ((size - 8) & ~(size_t)7);
		for (size_t i = 8; i < size; i++)
			buffer[(page->data_tail + i - 8) % BYTES] = data[i];
		ring_begin(&ring);
		const struct perf_event_header *record;
		while ((record = ring_next(&ring))) {
			struct perf_event_header *copy = malloc(record->size);
			if (!copy)
				break;
			memcpy(copy, record, record->size);
			check_decoded(copy, &layout);
			if (!window_add(&window, record_time(copy), copy))
				break;
			free(copy);
		}
		check(ring.tail <= ring.head, "read beyond the head");
		ring_end(&ring);
		window_sort(&window);
		uint64_t last = 0;
		while ((record = window_next(&window, UINT64_MAX))) {
			check(record_time(record) >= last, "not in the order of time");
			last = record_time(record);
		}
		window_drop(&window);
	}
	window_free(&window);
	free(page);
	free(buffer);
	free(joined);
	return 0;
}

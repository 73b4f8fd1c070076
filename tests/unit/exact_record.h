/* Records written by hand, for tests of what reads them: no program runs and no runtime is near. */
#ifndef TARE_TESTS_EXACT_RECORD_H
#define TARE_TESTS_EXACT_RECORD_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/inject/injection.h"
#include "engine/inject/view.h"

struct hand {
	struct injection *injection;
	struct error err;
};

static struct hand hand_new(void)
{
	struct hand h = {0};
	if (!injection_new(NULL, &h.injection, &h.err)) {
		printf("Bail out! %s\n", h.err.text);
		exit(1);
	}
	return h;
}

static void hand_write(struct hand *h, uint64_t offset, const void *bytes, size_t length)
{
	if (pwrite(injection_fd(h->injection), bytes, length, (off_t)offset) != (ssize_t)length)
		abort();
}

/* Room in the record, as a runtime takes it. */
static uint64_t hand_room(struct hand *h, uint64_t bytes)
{
	struct record_head *record = injection_record(h->injection);
	uint64_t offset = record->next_offset;
	record->next_offset += (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1);
	return offset;
}

static struct record_area hand_area(struct hand *h, const void *entries, size_t entry_bytes, uint32_t own,
				    uint32_t inherited)
{
	struct record_area area = {.offset = hand_room(h, own * entry_bytes + 1),
				   .count = inherited + own,
				   .inherited = inherited,
				   .bytes = own * entry_bytes};
	hand_write(h, area.offset, entries, own * entry_bytes);
	return area;
}

/* A process that has ended well. Returns its index. */
static uint32_t hand_process(struct hand *h, uint32_t parent, bool forked)
{
	struct record_head *record = injection_record(h->injection);
	uint32_t index = record->process_count++;
	struct record_process *p = injection_process(h->injection, index);
	*p = (struct record_process){
		.state = RECORD_EXITED, .pid = 1000 + index, .parent = parent, .forked = forked};
	snprintf(p->path, sizeof p->path, "/bin/hand%u", index);
	return index;
}

static void hand_thread(struct hand *h, uint32_t index, uint32_t tid, const uint64_t *counters, uint32_t n)
{
	struct record_process *p = injection_process(h->injection, index);
	struct record_thread t = {
		.next = p->first_thread, .tid = tid, .state = RECORD_THREAD_EXITED, .counters_most = n};
	t.counters = hand_room(h, n * 8ull);
	hand_write(h, t.counters, counters, n * 8ull);
	p->first_thread = hand_room(h, sizeof t);
	hand_write(h, p->first_thread, &t, sizeof t);
	p->thread_count++;
}

/* What the models of the newest thread of a process counted: bytes of counts, as many as there are machines. */
__attribute__((unused)) static void hand_models(struct hand *h, uint32_t index, const void *counts, size_t bytes)
{
	struct record_thread t;
	uint64_t offset = injection_process(h->injection, index)->first_thread;
	if (pread(injection_fd(h->injection), &t, sizeof t, (off_t)offset) != (ssize_t)sizeof t)
		abort();
	t.models = hand_room(h, bytes);
	hand_write(h, t.models, counts, bytes);
	hand_write(h, offset, &t, sizeof t);
}

static void hand_free(struct hand *h) { injection_free(h->injection); }

#endif

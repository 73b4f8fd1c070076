/* A thread in regions: its counters, and what entering and leaving does. See regions.h for what always holds. */
#include <pthread.h>

#include "api/regions.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/perf/counter.h"

/* initial-exec: an access is no call, and takes no memory in a signal handler. 8 bytes fit what the loader
 * reserves for libraries that are opened later. */
static __thread struct region_thread *_Atomic here __attribute__((tls_model("initial-exec")));

/* Below this number glibc keeps a key's value inside the thread; above, the first one takes memory of calloc,
 * which a signal handler may not: then an ended thread's counters stay open. */
enum { KEYS_WITHOUT_MEMORY = 32 };

struct region_thread *region_thread_known(void)
{
	return atomic_load_explicit(&here, memory_order_relaxed);
}

static void *memory_of_kernel(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void close_all(struct tare_counters *set)
{
	for (size_t e = 0; e < set->events.count; e++)
		for (; set->events.items[e].n_fds; set->events.items[e].n_fds--)
			close(set->events.items[e].fds[set->events.items[e].n_fds - 1]);
}

/* What a thread needs of a set: the groups are the model's. */
static size_t thread_bytes(const struct regions *r)
{
	return sizeof(struct region_thread) + sizeof(struct tare_counters) +
	       r->model->events.count * sizeof(struct counted_event) + r->plan_fds * sizeof(int);
}

static int open_counters(struct tare_counters *set, const struct regions *r, int *fds)
{
	size_t at = 0;
	for (size_t g = 0; g < set->groups.count; g++) {
		const struct group *group = &set->groups.items[g];
		struct counted_event *first = &set->events.items[group->first];
		for (size_t i = 0; i < group->n; i++) {
			struct counted_event *event = first + i;
			event->n_fds = 0;
			event->fds = fds + at;
			for (size_t kind = 0; kind < event->kinds; kind++, at++) {
				struct counter_request request = { .encoding = &r->plan[at].encoding,
								   .levels = r->plan[at].levels,
								   .grouped = group->grouped,
								   .leader = i ? first->fds[0] : -1 };
				int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
				if (fd < 0)
					return errno;
				event->fds[event->n_fds++] = fd;
			}
		}
	}
	for (size_t g = 0; g < set->groups.count; g++) {
		const struct counted_event *first = &set->events.items[set->groups.items[g].first];
		for (size_t i = 0; i < first->n_fds; i++)
			if (ioctl(first->fds[i], PERF_EVENT_IOC_ENABLE, 0) != 0)
				return errno;
	}
	return 0;
}

/* Opens the calling thread's counters. A handler that does the same meanwhile wins, and these are closed. */
static struct region_thread *thread_new(struct regions *r)
{
	size_t bytes = thread_bytes(r);
	struct region_thread *thread = memory_of_kernel(bytes), *none = NULL;
	if (!thread)
		return NULL;
	struct tare_counters *set = (struct tare_counters *)(thread + 1);
	struct counted_event *events = (struct counted_event *)(set + 1);
	int *fds = (int *)(events + r->model->events.count);
	thread->thread = gettid();
	thread->set = set;
	set->groups = r->model->groups;
	set->events.items = events;
	set->events.count = r->model->events.count;
	for (size_t e = 0; e < set->events.count; e++) {
		events[e] = r->model->events.items[e];
		events[e].n_fds = 0;
	}
	int reason = open_counters(set, r, fds);
	if (reason)
		close_all(set);
	atomic_store_explicit(&thread->os_errno, reason, memory_order_relaxed);
	if (!atomic_compare_exchange_strong(&here, &none, thread)) {
		close_all(set);
		munmap(thread, bytes);
		return none;
	}
	thread->number = atomic_fetch_add(&r->n_threads, 1);
	thread->next = atomic_load(&r->threads);
	while (!atomic_compare_exchange_weak(&r->threads, &thread->next, thread))
		;
	if (r->has_thread_end && r->thread_end < KEYS_WITHOUT_MEMORY)
		pthread_setspecific(r->thread_end, thread);
	return thread;
}

/* The key's destructor. The counts stay; the thread may come back (another key's destructor with a region in it).
 */
void region_thread_end(void *of)
{
	struct region_thread *thread = of;
	atomic_store(&here, NULL);
	atomic_store(&thread->ended, true);
	close_all(thread->set);
}

static struct slot *slot_at(struct slot *chunk, const struct regions *r, uint32_t id)
{
	return (struct slot *)((char *)chunk + (size_t)(id % SLOTS_OF_CHUNK) * r->slot_bytes);
}

struct slot *slot_find(struct region_thread *thread, const struct regions *r, uint32_t id)
{
	struct slot *chunk = atomic_load_explicit(&thread->chunks[id / SLOTS_OF_CHUNK], memory_order_acquire);
	return chunk ? slot_at(chunk, r, id) : NULL;
}

static struct slot *slot_make(struct region_thread *thread, const struct regions *r, uint32_t id)
{
	struct slot *chunk = memory_of_kernel(SLOTS_OF_CHUNK * r->slot_bytes), *none = NULL;
	if (!chunk)
		return NULL;
	if (!atomic_compare_exchange_strong(&thread->chunks[id / SLOTS_OF_CHUNK], &none, chunk)) {
		munmap(chunk, SLOTS_OF_CHUNK * r->slot_bytes);
		chunk = none;
	}
	return slot_at(chunk, r, id);
}

/* The calling thread's slot, made when need be. NULL: in a forked child, or no memory. */
static struct slot *slot_here(struct region_thread **of, struct regions *r, uint32_t id)
{
	if (!counters_here(r->model, NULL))
		return NULL;
	struct region_thread *thread = region_thread_known();
	if (!thread)
		thread = thread_new(r);
	struct slot *slot = thread ? slot_find(thread, r, id) : NULL;
	if (thread && !slot)
		slot = slot_make(thread, r, id);
	if (!slot)
		atomic_fetch_add(&r->lost, 1);
	*of = thread;
	return slot;
}

/* Of its thread alone, but for its handlers: they leave it as it was, or add to it before or after. */
static uint64_t add(_Atomic uint64_t *to, uint64_t n)
{
	return atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static bool read_now(const struct region_thread *thread, struct tare_reading *raw)
{
	return !atomic_load_explicit(&thread->os_errno, memory_order_relaxed) &&
	       counters_read_raw(thread->set, raw);
}

void tare_region_enter(struct tare_region *region)
{
	struct regions *r = regions_of_process();
	struct region_thread *thread;
	int kept_errno = errno;
	struct slot *slot = region && r ? slot_here(&thread, r, region->id) : NULL;
	if (slot) {
		bool first = add(&slot->entries, 1) == 0;
		if (atomic_fetch_add_explicit(&slot->depth, 1, memory_order_relaxed) == 0) {
			size_t n = r->model->events.count;
			struct tare_reading raw[TARE_EVENTS_MOST];
			/* its page faults are not the region's */
			for (size_t i = 0; first && i < n; i++)
				atomic_store_explicit(&slot->sums[n + i].running_ns, 0, memory_order_relaxed);
			slot->begun = false;
			slot->begun = read_now(thread, raw);
			for (size_t i = 0; slot->begun && i < n; i++) {
				struct sum *begin = &slot->sums[n + i];
				atomic_store_explicit(&begin->count, raw[i].count, memory_order_relaxed);
				atomic_store_explicit(&begin->enabled_ns, raw[i].enabled_ns, memory_order_relaxed);
				atomic_store_explicit(&begin->running_ns, raw[i].running_ns, memory_order_relaxed);
			}
		}
	}
	errno = kept_errno;
}

static uint64_t since(_Atomic uint64_t *begin, uint64_t end)
{
	return end - atomic_load_explicit(begin, memory_order_relaxed);
}

void tare_region_leave(struct tare_region *region)
{
	struct regions *r = regions_of_process();
	struct region_thread *thread;
	int kept_errno = errno;
	struct slot *slot = region && r ? slot_here(&thread, r, region->id) : NULL;
	if (slot) {
		int64_t depth = atomic_load_explicit(&slot->depth, memory_order_relaxed);
		if (depth == 1) {
			size_t n = r->model->events.count;
			struct tare_reading raw[TARE_EVENTS_MOST];
			bool counted = slot->begun && read_now(thread, raw);
			for (size_t i = 0; counted && i < n; i++) {
				struct sum *total = &slot->sums[i], *begin = &slot->sums[n + i];
				add(&total->count, since(&begin->count, raw[i].count));
				add(&total->enabled_ns, since(&begin->enabled_ns, raw[i].enabled_ns));
				add(&total->running_ns, since(&begin->running_ns, raw[i].running_ns));
			}
			if (!counted)
				add(&slot->unread, 1);
		} else if (depth > 1) {
			add(&slot->pending, 1);
		}
		if (depth > 0)
			atomic_fetch_sub_explicit(&slot->depth, 1, memory_order_relaxed);
		else
			add(&slot->strays, 1);
		/* after the depth: no handler is inside the pass any more */
		if (depth == 1)
			atomic_store_explicit(&slot->pending, 0, memory_order_relaxed);
		add(&slot->exits, 1);
	}
	errno = kept_errno;
}

void region_sums_add(struct region_sums *out, const struct slot *slot, size_t n)
{
	uint64_t exits = atomic_load_explicit(&slot->exits, memory_order_relaxed),
		 entries = atomic_load_explicit(&slot->entries, memory_order_relaxed),
		 strays = atomic_load_explicit(&slot->strays, memory_order_relaxed);
	if (!entries && !exits)
		return;
	out->passes.entries += entries;
	out->passes.exits += exits;
	out->passes.threads++;
	out->passes.unbalanced += entries != exits || strays;
	out->strays += strays;
	out->pending += atomic_load_explicit(&slot->pending, memory_order_relaxed);
	out->unread += atomic_load_explicit(&slot->unread, memory_order_relaxed);
	for (size_t i = 0; i < n; i++) {
		out->readings[i].count += atomic_load_explicit(&slot->sums[i].count, memory_order_relaxed);
		out->readings[i].enabled_ns +=
		    atomic_load_explicit(&slot->sums[i].enabled_ns, memory_order_relaxed);
		out->readings[i].running_ns +=
		    atomic_load_explicit(&slot->sums[i].running_ns, memory_order_relaxed);
	}
}

/* A sum in which an exit is missing is no count (after a longjmp out of the region, all later passes of the thread
 * lie inside the one that never ended), and neither is one of no pass at all: every entry is still open. */
void region_sums_finish(struct region_sums *out, const struct regions *r)
{
	bool whole = !out->unread && !out->pending && (!out->passes.entries || out->passes.exits > out->strays);
	for (size_t i = 0; i < r->model->events.count; i++) {
		const struct counted_event *event = &r->model->events.items[i];
		struct tare_reading *reading = &out->readings[i], zero = { .flags = event->flags };
		if (event->scale != 1)
			reading->count = (uint64_t)((double)reading->count * event->scale + 0.5);
		reading->flags = event->flags;
		tare_difference(&zero, reading, 1, reading);
		if (!whole)
			reading->state = TARE_NOT_COUNTED;
	}
}

/* A thread in regions: its counters, and what entering and leaving does. See regions.h for what always holds. */
#include <pthread.h>

#include "api/region_pass.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/interrupts.h"
#include "api/watched.h"
#include "backend/perf/counter/counter.h"

__thread struct region_thread *_Atomic region_here
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Below this number glibc keeps a key's value inside the thread; above, the first one takes memory of calloc,
 * which a signal handler may not: then an ended thread's counters stay open. */
enum { KEYS_WITHOUT_MEMORY = 32 };

struct region_thread *region_thread_known(void)
{
	return atomic_load_explicit(&region_here, memory_order_relaxed);
}

static void *memory_of_kernel(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void close_all(struct tare_counters *set)
{
	user_close(set->user); /* a page keeps its counter open */
	for (size_t e = 0; e < set->events.count; e++)
		for (; set->events.items[e].n_fds; set->events.items[e].n_fds--)
			close(set->events.items[e].fds[set->events.items[e].n_fds - 1]);
}

/* What a thread needs of a set: the groups are the model's. */
static size_t thread_bytes(const struct region_set *r)
{
	return sizeof(struct region_thread) + sizeof(struct tare_counters) + sizeof(struct user_reads) +
	       r->model->events.count * sizeof(struct counted_event) + r->plan_fds * sizeof(int);
}

static int open_counters(struct tare_counters *set, const struct region_set *r, int *fds)
{
	size_t at = 0;
	for (size_t g = 0; g < set->groups.count; g++) {
		const struct counter_group *group = &set->groups.items[g];
		struct counted_event *first = &set->events.items[group->first];
		for (size_t i = 0; i < group->n; i++) {
			struct counted_event *event = first + i;
			event->n_fds = 0;
			event->fds = fds + at;
			for (size_t kind = 0; kind < event->kinds; kind++, at++) {
				struct counter_request request = {.encoding = &r->plan[at].encoding,
								  .levels = r->plan[at].levels,
								  .grouped = group->grouped,
								  .user_read = r->plan[at].user_read,
								  .leader = i ? first->fds[0] : -1};
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

static void check_next(struct region_thread *thread, uint64_t outside, uint64_t inside)
{
	own_set(&thread->check_at[0], outside);
	own_set(&thread->check_at[1], inside);
}

/* Opens the calling thread's counters. A handler that does the same meanwhile wins, and these are closed. */
static struct region_thread *thread_new(struct region_set *r)
{
	size_t bytes = thread_bytes(r);
	struct region_thread *thread = memory_of_kernel(bytes), *none = NULL;
	if (!thread)
		return NULL;
	struct tare_counters *set = (struct tare_counters *)(thread + 1);
	struct user_reads *user = (struct user_reads *)(set + 1);
	struct counted_event *events = (struct counted_event *)(user + 1);
	int *fds = (int *)(events + r->model->events.count);
	thread->thread = gettid();
	thread->set = set;
	set->groups = r->model->groups;
	set->user = user;
	user->owner = user_thread();
	set->events.items = events;
	set->events.count = r->model->events.count;
	for (size_t e = 0; e < set->events.count; e++) {
		events[e] = r->model->events.items[e];
		events[e].n_fds = 0;
	}
	int reason = open_counters(set, r, fds);
	if (reason)
		close_all(set);
	user->why = reason ? USER_CLOSED : user_possible(set, r->model->user_wanted);
	if (user->why == USER_READS)
		user_open(user, set);
	thread->n = (uint32_t)set->events.count;
	thread->slot_bytes = r->slot_bytes;
	thread->user = user->why == USER_READS ? user : NULL;
	if (!thread->user)
		check_next(thread, UINT64_MAX, UINT64_MAX);
	/* without the wiping every pass asks slot_here() whether it is in a forked child */
	thread->ready = !reason && madvise(thread, bytes, MADV_WIPEONFORK) == 0;
	atomic_store_explicit(&thread->os_errno, reason, memory_order_relaxed);
	if (!atomic_compare_exchange_strong(&region_here, &none, thread)) {
		close_all(set);
		munmap(thread, bytes);
		return none;
	}
	thread->faults_before = faults_of_thread();
	thread->process_faults_before = faults_of_process();
	thread->number = atomic_fetch_add(&r->n_threads, 1);
	thread->next = atomic_load(&r->threads);
	while (!atomic_compare_exchange_weak(&r->threads, &thread->next, thread))
		;
	if (r->has_thread_end && r->thread_end < KEYS_WITHOUT_MEMORY)
		pthread_setspecific(r->thread_end, thread);
	return thread;
}

void region_thread_watch(void)
{
	struct tare_reading first[TARE_EVENTS_MOST], second[TARE_EVENTS_MOST];
	struct region_thread *thread = region_thread_known();
	if (!thread || !thread->set || atomic_load_explicit(&thread->os_errno, memory_order_relaxed))
		return;
	if (counters_read_raw(thread->set, first) && counters_read_raw(thread->set, second) &&
	    !watched_moves(thread->set, first, second, NULL))
		atomic_store(&thread->lost, true);
}

uint64_t region_thread_faults(const struct region_thread *thread)
{
	if (atomic_load(&((struct region_thread *)thread)->ended))
		return atomic_load(&((struct region_thread *)thread)->faults);
	if (thread == region_thread_known())
		return faults_of_thread() - thread->faults_before;
	return faults_of_process() - thread->process_faults_before;
}

/* The key's destructor. The counts stay; the thread may come back (another key's destructor with a region in it).
 */
void region_thread_end(void *of)
{
	struct region_thread *thread = of;
	if (!thread->set) /* in a forked child */
		return;
	region_thread_watch();
	atomic_store(&thread->faults, faults_of_thread() - thread->faults_before);
	atomic_store(&region_here, NULL);
	atomic_store(&thread->ended, true);
	close_all(thread->set);
}

struct slot *slot_find(struct region_thread *thread, uint32_t id)
{
	const struct tare_region region = {.id = id};
	return pass_slot(thread, &region);
}

static struct slot *slot_make(struct region_thread *thread, const struct region_set *r, uint32_t id)
{
	struct slot *chunk = memory_of_kernel(SLOTS_OF_CHUNK * r->slot_bytes), *none = NULL;
	if (!chunk)
		return NULL;
	if (!atomic_compare_exchange_strong(&thread->chunks[id / SLOTS_OF_CHUNK], &none, chunk)) {
		munmap(chunk, SLOTS_OF_CHUNK * r->slot_bytes);
	}
	return slot_find(thread, id);
}

/* The calling thread's slot, made when need be. NULL: in a forked child, or no memory. */
static struct slot *slot_here(struct region_thread **of, struct region_set *r, uint32_t id)
{
	if (!counters_here(r->model, NULL))
		return NULL;
	struct region_thread *thread = region_thread_known();
	if (!thread)
		thread = thread_new(r);
	struct slot *slot = thread ? slot_find(thread, id) : NULL;
	if (thread && !slot)
		slot = slot_make(thread, r, id);
	if (!slot)
		atomic_fetch_add(&r->lost, 1);
	*of = thread;
	return slot;
}

/* Its page faults are not the region's. */
static void touch(const struct region_thread *thread, struct slot *slot)
{
	for (size_t i = 0; i < thread->n; i++)
		((volatile struct begin_times *)slot_begin_times(slot, thread->n))[i].running_ns = 0;
}

/* A disagreement between user reads and read(2): nobody knows since when. What the thread counted so far is not
 * a count. */
static void distrust(struct region_thread *thread)
{
	thread->user = NULL;
	for (uint32_t id = 0; id < TARE_REGIONS_MOST; id++) {
		struct slot *slot = slot_find(thread, id);
		if (!slot)
			id += SLOTS_OF_CHUNK - 1;
		else if (own_get(&slot->entries))
			own_add(&slot->unread, 1);
	}
}

static void check_if_due(struct region_thread *thread)
{
	enum { INSIDE_LATER = 16 };
	if (!pass_check_due(thread))
		return;
	uint64_t done = own_get(&thread->calls[0]);
	if (done != own_get(&thread->calls[1]))
		own_add(&thread->calls[2], 1);
	check_next(thread, UINT64_MAX, UINT64_MAX); /* handlers in here do not */
	uint64_t next = user_check(thread->set, done);
	if (next)
		check_next(thread, next, done + INSIDE_LATER * (next - done));
	else
		distrust(thread);
}

bool region_enter_slowly(struct tare_region *region)
{
	struct region_set *r = regions_of_process();
	struct region_thread *thread;
	bool pass = false;
	int kept_errno = errno;
	if (!r)
		regions_mark(region, MARK_BEGIN);
	struct slot *slot = region && r ? slot_here(&thread, r, region->id) : NULL;
	if (slot && pass_depth(slot) != 0) {
		own_add(&slot->entries, 1);
		own_add(&thread->calls[2], 1);
	} else if (slot) {
		if (own_get(&slot->entries) == 0)
			touch(thread, slot);
		check_if_due(thread);
		pass = thread->ready;
		if (!pass)
			pass_begin(thread, slot);
	}
	errno = kept_errno;
	return pass;
}

void region_leave_slowly(struct tare_region *region)
{
	if (!__atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED))
		return;
	struct region_set *r = regions_of_process();
	struct region_thread *thread;
	int kept_errno = errno;
	if (!r)
		regions_mark(region, MARK_END);
	struct slot *slot = region && r ? slot_here(&thread, r, region->id) : NULL;
	if (slot && pass_depth(slot) == 1) {
		pass_end(thread, slot);
	} else if (slot) {
		own_add(&thread->calls[2], 1);
		if (pass_depth(slot) > 1) {
			own_add(&slot->pending, 1);
			own_add(&slot->exits, 1);
		} else {
			own_add(&slot->strays, 1);
		}
	}
	errno = kept_errno;
}

__attribute__((visibility("hidden"))) void region_enter(struct tare_region *region);

/* The pass is then made by the same instructions as any: this function does not call it any more (a tail call). */
__attribute__((noinline)) static void enter_again(struct tare_region *region)
{
	if (__atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) && region_enter_slowly(region))
		region_enter(region);
}

#if defined(__x86_64__)
/* Under tare's engine the exported functions end at their first instruction, a nop that it knows by its
 * displacement (src/engine/wire/region.h): the region's name is at *rdi, or it is rsi bytes from rdi on, and none
 * of what follows is executed or counted. */
#define REGION_FUNCTION(name, code, body, ...)                                                                    \
	__attribute__((used, visibility("hidden"))) void body(__VA_ARGS__);                                       \
	__attribute__((naked)) void name(__VA_ARGS__)                                                             \
	{                                                                                                         \
		__asm__(".byte 0x66, 0x0f, 0x1f, 0x84, 0x00\n\t.long 0x54415200 + " #code "\n\tjmp " #body);      \
	}                                                                                                         \
	void body(__VA_ARGS__)
#else
#define REGION_FUNCTION(name, code, body, ...)                                                                    \
	__attribute__((alias(#name), visibility("hidden"))) void body(__VA_ARGS__);                               \
	void name(__VA_ARGS__)
#endif
#define UNUSED __attribute__((unused)) /* of a naked function */

REGION_FUNCTION(tare_region_enter, 2, region_enter, UNUSED struct tare_region *region)
{
	if (!region_pass_enter(region))
		enter_again(region);
}

REGION_FUNCTION(tare_region_leave, 3, region_leave, UNUSED struct tare_region *region)
{
	if (!region_pass_leave(region))
		region_leave_slowly(region);
}

/* For the Fortran module: as Fortran compilers call an external procedure with a character argument, whose length
 * they pass behind it. */
REGION_FUNCTION(tare_region_enter_text_, 6, region_enter_text, UNUSED const char *name, UNUSED size_t bytes)
{
	region_enter(region_of_text(name, bytes));
}

REGION_FUNCTION(tare_region_leave_text_, 7, region_leave_text, UNUSED const char *name, UNUSED size_t bytes)
{
	region_leave(region_of_text(name, bytes));
}

void region_thread_reads(const struct region_thread *thread, struct tare_reads *out)
{
	uint64_t calls = own_get(&thread->calls[0]) + own_get(&thread->calls[1]);
	tare_reads_of(thread->set, out);
	out->by_user = calls > out->by_call ? calls - out->by_call : 0;
}

void region_sums_add(struct region_sums *out, const struct region_thread *thread, const struct slot *slot)
{
	uint64_t exits = own_get(&slot->exits), entries = own_get(&slot->entries), strays = own_get(&slot->strays);
	if (!entries && !strays)
		return;
	uint64_t marks_ns = own_get(&slot->marks_base_ns) + cycles_ns(own_get(&slot->marks_cycles),
								      thread->set->user->mult,
								      thread->set->user->shift);
	out->passes.entries += entries;
	out->passes.exits += exits + strays;
	out->passes.threads++;
	out->passes.unbalanced += entries != exits || strays;
	out->strays += strays;
	out->pending += own_get(&slot->pending);
	out->unread += own_get(&slot->unread);
	out->lost |= atomic_load(&thread->lost);
	for (size_t k = 0; k < 3; k++)
		out->inside[k] += own_get(&slot->inside[k]);
	for (size_t i = 0; i < thread->n; i++) {
		out->readings[i].count += own_get(&slot->sums[i].count);
		out->readings[i].enabled_ns += own_get(&slot->sums[i].enabled_ns) + marks_ns;
		out->readings[i].running_ns += own_get(&slot->sums[i].running_ns) + marks_ns;
	}
}

/* A sum in which an exit is missing is not a count (after a longjmp out of the region, all later passes of the
 * thread lie inside the one that never ended), and neither is one of no pass at all: every entry is still open. */
void region_sums_finish(struct region_sums *out, const struct region_set *r)
{
	bool whole = !out->unread && !out->pending && (!out->passes.entries || out->passes.exits > out->strays);
	for (size_t i = 0; i < r->model->events.count; i++) {
		const struct counted_event *event = &r->model->events.items[i];
		struct tare_reading *reading = &out->readings[i], zero = {.flags = event->flags};
		if (event->scale != 1)
			reading->count = (uint64_t)((double)reading->count * event->scale + 0.5);
		reading->flags = event->flags | (out->lost ? (uint32_t)TARE_LOST_COUNTS : 0);
		tare_difference(&zero, reading, 1, reading);
		if (!whole)
			reading->state = TARE_NOT_COUNTED;
	}
}

/* A pass through a region, where nothing stands in the way: the thread is known, its counters are open, the
 * region's slot is there. region_thread.c does the rest.
 *
 * All in here is also compiled into the assembly stubs (stub_pass.c): no libc, no errno, nothing that is done in
 * vector registers.
 *
 * What a pass executes is the same for every pass of one kind (by user reads, by read(2)), so that what it adds to
 * a count can be taken off again. */
#ifndef TARE_API_REGION_PASS_H
#define TARE_API_REGION_PASS_H

#include "api/read_raw.h"
#include "api/regions.h"
#include "api/user_read.h"

/* initial-exec: an access calls nothing, and takes no memory in a signal handler. 8 bytes fit what the loader
 * reserves for libraries that are opened later. */
extern __thread struct region_thread *_Atomic region_here
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Not inlined: the usual way does not pay for its stack. */
#define PASS_APART __attribute__((noinline, unused))

static inline struct slot *pass_slot(struct region_thread *thread, const struct tare_region *region)
{
	struct slot *chunk = atomic_load_explicit(&thread->chunks[region->id / SLOTS_OF_CHUNK],
						  memory_order_acquire);
	return chunk ? (struct slot *)((char *)chunk + (size_t)(region->id % SLOTS_OF_CHUNK) * thread->slot_bytes)
		     : NULL;
}

/* The same instructions whether the thread is in a region or not. */
static inline bool pass_check_due(const struct region_thread *thread)
{
	uint64_t enters = own_get(&thread->calls[0]);
	size_t inside = enters != own_get(&thread->calls[1]);
	return enters >= own_get(&thread->check_at[inside]);
}

static inline int64_t pass_depth(const struct slot *slot)
{
	return (int64_t)(own_get(&slot->entries) - own_get(&slot->exits));
}

/* ---- the times of user reads ----
 *
 * A mark is a point on the page's clock, not brought to ns: `base_ns` + ns(`cycles`) is the enabled time, and
 * also the running time: the group was never off the counters. So a pass adds two numbers, and multiplies
 * nothing. */

static inline uint64_t cycles_ns(uint64_t cycles, uint64_t mult, uint64_t shift)
{
	return (uint64_t)(((unsigned __int128)cycles * mult) >> shift);
}

/* The enabled time of a mark that is of the same stretch on the counters, or of one before. The clock's
 * wrap-around is undone in whichever direction is near. */
static inline uint64_t mark_enabled_ns(const struct user_reads *user, uint64_t base_ns, uint64_t cycles)
{
	user_page *page = user->pages[0];
	if (page->cap_user_time_short) {
		uint64_t epoch = page->time_cycles, mask = page->time_mask, later = (cycles - epoch) & mask;
		cycles = later <= mask / 2 ? epoch + later : epoch - ((epoch - cycles) & mask);
	}
	return base_ns + cycles_ns(cycles, user->mult, user->shift);
}

/* Fills counts[n] and the mark. False: the kernel was here meanwhile, or this reading is read(2)'s.
 * From the last count to the leader's, whose sequence number all stand between. */
USER_INLINE bool user_mark(const struct user_reads *user, size_t n, struct user_mark *mark, uint64_t *counts)
{
	user_page *leader = user->pages[0];
	uint32_t sequence = leader->lock;
	user_barrier();
	uint64_t enabled_ns = leader->time_enabled;
	if (!(leader->capabilities & USER_CAP_RDPMC) || enabled_ns != leader->time_running)
		return false;
	mark->base_ns = enabled_ns + leader->time_offset;
	mark->cycles = user_cycles();
	size_t i = n - 1;
	/* more than one event is usual: else gcc 14 puts the loop aside, and a jump back from it into the path */
	if (__builtin_expect(i != 0, 1))
		do {
			user_page *page = user->pages[i];
			struct user_head head = user_head(page);
			if (!user_count(page, head, &user->shifts[i], &counts[i]) ||
			    !user_same(page, head.sequence))
				return false;
		} while (--i);
	return user_count(leader, user_head(leader), &user->shifts[0], &counts[0]) && user_same(leader, sequence);
}

/* The kernel came by, and is gone: another attempt or two go well, or there is another reason. What they count is
 * in the ± (calibration.c), which user->again widens. */
PASS_APART static bool user_mark_again(struct region_thread *thread, size_t n, struct user_mark *mark,
				       uint64_t *counts)
{
	bool read = false;
	for (unsigned tries = 0; !read && tries < 2; tries++) {
		own_add(&thread->user->again, 1);
		read = user_mark(thread->user, n, mark, counts);
	}
	return read;
}

/* ---- beginning and ending ---- */

static inline bool pass_read_raw(struct region_thread *thread, struct tare_reading *raw)
{
	if (atomic_load_explicit(&thread->os_errno, memory_order_relaxed))
		return false;
	own_add(&thread->set->user->by_call, 1);
	return read_raw(thread->set, raw) == 0;
}

static inline void pass_begin_raw(struct region_thread *thread, struct slot *slot)
{
	struct tare_reading raw[TARE_EVENTS_MOST];
	size_t n = thread->n;
	if (!pass_read_raw(thread, raw))
		return;
	for (size_t i = 0; i < n; i++) {
		slot_begin(slot, n)[i] = raw[i].count;
		slot_begin_times(slot, n)[i] = (struct begin_times){raw[i].enabled_ns, raw[i].running_ns};
	}
	slot->begun = BEGUN_RAW;
}

PASS_APART static void pass_begin_read(struct region_thread *thread, struct slot *slot);

/* After an interrupt the reading is made by the same instructions as any other: what follows it is in the count.
 */
PASS_APART static void pass_begin_else(struct region_thread *thread, struct slot *slot)
{
	enum { TRIES_MOST = 3 };
	if (thread->user && ++slot->tries < TRIES_MOST) {
		own_add(&thread->user->again, 1);
		pass_begin_read(thread, slot);
	} else {
		pass_begin_raw(thread, slot);
	}
}

PASS_APART static void pass_begin_read(struct region_thread *thread, struct slot *slot)
{
	if (thread->user && user_mark(thread->user, thread->n, &slot->begin_mark, slot_begin(slot, thread->n)))
		slot->begun = BEGUN_USER;
	else
		pass_begin_else(thread, slot);
}

/* The depth was 0. */
USER_INLINE void pass_begin(struct region_thread *thread, struct slot *slot)
{
	own_add(&slot->entries, 1);
	slot->inside_begin[0] = own_add(&thread->calls[0], 1) + 1;
	slot->inside_begin[1] = own_get(&thread->calls[1]);
	slot->inside_begin[2] = own_get(&thread->calls[2]);
	slot->begun = BEGUN_NOT;
	slot->tries = 0;
	pass_begin_read(thread, slot);
}

static inline void sum_add(_Atomic uint64_t *to, uint64_t n) { own_set(to, own_get(to) + n); }

USER_INLINE void pass_add_counts(struct slot *slot, size_t n, const uint64_t *now)
{
	const uint64_t *begin = slot_begin(slot, n);
	for (size_t i = n; i-- > 0;)
		sum_add(&slot->sums[i].count, now[i] - begin[i]);
}

/* A pass that a user read ends, and read(2) began; one group: the times are its leader's. */
static inline void pass_add_mixed(struct region_thread *thread, struct slot *slot, const struct user_mark *mark)
{
	const struct begin_times *begin = slot_begin_times(slot, thread->n);
	uint64_t now_ns = mark_enabled_ns(thread->user, mark->base_ns, mark->cycles);
	for (size_t i = 0; i < thread->n; i++) {
		sum_add(&slot->sums[i].enabled_ns, now_ns - begin->enabled_ns);
		sum_add(&slot->sums[i].running_ns, now_ns - begin->running_ns);
	}
}

static inline void pass_end_raw(struct region_thread *thread, struct slot *slot)
{
	struct tare_reading raw[TARE_EVENTS_MOST];
	const uint64_t *begin = slot_begin(slot, thread->n);
	const struct begin_times *times = slot_begin_times(slot, thread->n);
	const struct user_mark *mark = &slot->begin_mark;
	if (slot->begun == BEGUN_NOT || !pass_read_raw(thread, raw)) {
		own_add(&slot->unread, 1);
		return;
	}
	uint64_t mark_ns = slot->begun == BEGUN_USER
				   ? mark_enabled_ns(thread->set->user, mark->base_ns, mark->cycles)
				   : 0;
	for (size_t i = 0; i < thread->n; i++) {
		struct sum *total = &slot->sums[i];
		bool marked = slot->begun == BEGUN_USER;
		sum_add(&total->count, raw[i].count - begin[i]);
		sum_add(&total->enabled_ns, raw[i].enabled_ns - (marked ? mark_ns : times[i].enabled_ns));
		sum_add(&total->running_ns, raw[i].running_ns - (marked ? mark_ns : times[i].running_ns));
	}
}

/* The sums are written before the depth is lowered: a handler in between sees a pass, and leaves them alone. */
USER_INLINE void pass_ended(struct region_thread *thread, struct slot *slot)
{
#pragma GCC unroll 3
	for (size_t k = 0; k < 3; k++)
		sum_add(&slot->inside[k], own_get(&thread->calls[k]) - slot->inside_begin[k]);
	own_add(&thread->calls[1], 1);
	own_add(&slot->exits, 1);
	/* after the depth: no handler is inside the pass any more */
	own_set(&slot->pending, 0);
}

USER_INLINE void pass_add_marks(struct slot *slot, const struct user_mark *mark)
{
	sum_add(&slot->marks_base_ns, mark->base_ns - slot->begin_mark.base_ns);
	sum_add(&slot->marks_cycles, mark->cycles - slot->begin_mark.cycles);
}

PASS_APART static void pass_end_else(struct region_thread *thread, struct slot *slot)
{
	uint64_t now[USER_EVENTS_MOST];
	struct user_mark mark;
	if (thread->user && slot->begun != BEGUN_NOT && user_mark_again(thread, thread->n, &mark, now)) {
		if (slot->begun == BEGUN_USER)
			pass_add_marks(slot, &mark);
		else
			pass_add_mixed(thread, slot, &mark);
		pass_add_counts(slot, thread->n, now);
	} else {
		pass_end_raw(thread, slot);
	}
	pass_ended(thread, slot);
}

/* The depth is 1. */
USER_INLINE void pass_end(struct region_thread *thread, struct slot *slot)
{
	uint64_t now[USER_EVENTS_MOST];
	struct user_mark mark;
	if (thread->user && slot->begun == BEGUN_USER && user_mark(thread->user, thread->n, &mark, now)) {
		pass_add_marks(slot, &mark);
		pass_add_counts(slot, thread->n, now);
		pass_ended(thread, slot);
	} else {
		pass_end_else(thread, slot);
	}
}

/* True: done. False: nothing was changed. Then for an enter region_enter_slowly() is called, and where it says so
 * the pass is tried again: so a pass that made the thread's counters, or was checked, executes the same
 * instructions behind its reading as any other. For a leave region_leave_slowly() does it all. */
USER_INLINE bool region_pass_enter(struct tare_region *region)
{
	struct region_thread *thread = atomic_load_explicit(&region_here, memory_order_relaxed);
	if (!region || !thread || !thread->ready)
		return false;
	struct slot *slot = pass_slot(thread, region);
	if (!slot || pass_depth(slot) != 0 || pass_check_due(thread))
		return false;
	pass_begin(thread, slot);
	return true;
}

USER_INLINE bool region_pass_leave(struct tare_region *region)
{
	struct region_thread *thread = atomic_load_explicit(&region_here, memory_order_relaxed);
	if (!region || !thread || !thread->ready)
		return false;
	struct slot *slot = pass_slot(thread, region);
	if (!slot || pass_depth(slot) != 1)
		return false;
	pass_end(thread, slot);
	return true;
}

#endif

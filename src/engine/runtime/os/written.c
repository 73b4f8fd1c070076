/*
 * Which memory a system call may write, so that the kernel never meets a page that the engine has write-protected.
 *
 *     written_begin: ranges published ──► pages among them released ──► the call ──► written_end: ranges withdrawn
 *
 * What always holds:
 *  1. While a thread's ranges are published, no page among them becomes protected: code that is translated from it
 *     meanwhile is compared with memory before each execution (memory_watch, PAGE_OPEN). So a call is made once,
 *     and no result is lost.
 *  2. The ranges may be larger than what is written, never smaller. A call that is not in the table may write
 *     anywhere. What must only be writable counts as written (a shared futex that is waited for), and so does what
 *     must be one mapping (mremap).
 *  3. Where the kernel writes after the call (a thread's end, restartable sequences), the range is the thread's as
 *     long as that can be.
 *
 * What each call writes is a row of written_table.h.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/written_table.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define SLACK 8 /* msgrcv's type in front of its text, a bit set's last word */
#define IOV_MOST 1024u
#define ALL_OF_MEMORY (~0ull >> 17)

static void add(struct thread *t, uint64_t at, uint64_t bytes)
{
	uint64_t end = at + bytes;
	if (!at || !bytes || at >= ALL_OF_MEMORY)
		return;
	if (end < at || end > ALL_OF_MEMORY)
		end = ALL_OF_MEMORY;
	if (end + SLACK < ALL_OF_MEMORY)
		end += SLACK;
	if (t->written_count == WRITTEN_MAX) { /* one range around all of them */
		struct written whole = t->written[0];
		for (unsigned i = 1; i < WRITTEN_MAX; i++) {
			whole.start = t->written[i].start < whole.start ? t->written[i].start : whole.start;
			whole.end = t->written[i].end > whole.end ? t->written[i].end : whole.end;
		}
		t->written[0] = whole;
		t->written_count = 1;
	}
	t->written[t->written_count++] = (struct written){at, end};
}

static void add_everything(struct thread *t) { add(t, 1, ALL_OF_MEMORY); }

static void add_vector(struct thread *t, uint64_t at, uint64_t count)
{
	uint64_t entry[2];
	for (uint64_t i = 0;
	     i < count && i < IOV_MOST && safe_copy(entry, (const void *)(at + i * sizeof entry), sizeof entry);
	     i++)
		add(t, entry[0], entry[1]);
}

static void add_message(struct thread *t, uint64_t at)
{
	uint64_t head[7]; /* name, its length, iovec, entries, control, its length, flags */
	if (!safe_copy(head, (const void *)at, sizeof head))
		return;
	add(t, at, sizeof head);
	add(t, head[0], (uint32_t)head[1]);
	add(t, head[4], head[5]);
	add_vector(t, head[2], head[3]);
}

static void add_waiters(struct thread *t, uint64_t at, uint64_t count)
{
	uint64_t waiter[3]; /* value, address, flags */
	for (uint64_t i = 0;
	     i < count && i < 128 && safe_copy(waiter, (const void *)(at + i * sizeof waiter), sizeof waiter); i++)
		add(t, waiter[1], 8);
}

/* LOCK_PI, UNLOCK_PI, TRYLOCK_PI, WAKE_OP, LOCK_PI2 and the two that requeue to such a lock */
static bool futex_writes(uint64_t operation) { return (operation >= 5 && operation <= 8) || operation >= 11; }

/* What is written depends on an argument's value. */
static void depends(struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	uint64_t a = r[X86_RDI], b = r[X86_RSI], c = r[X86_RDX], d = r[X86_R10], e = r[X86_R8];
	uint32_t length = 0;
	switch (nr) {
	/* a terminal's are flat; others say how long they are, but not what pointers are in them */
	case SYS_ioctl:
		if ((b & 0xffffff00) == 0x5400)
			add(t, c, 256);
		else
			add_everything(t);
		break;
	case SYS_getsockopt:
		if ((uint32_t)b == IPPROTO_TCP_ &&
		    (uint32_t)c == TCP_ZEROCOPY_RECEIVE_) /* it has an address in it */
			add_everything(t);
		if (safe_copy(&length, (const void *)e, 4))
			add(t, d, length);
		add(t, e, 4);
		break;
	case SYS_prctl:
		if ((uint32_t)a == PR_GET_AUXV_)
			add(t, b, c);
		add(t, b, 16);
		add(t, c, 8);
		break;
	case SYS_madvise:
		if ((uint32_t)c == MADV_POPULATE_WRITE_)
			add(t, a, b);
		break;
	case SYS_futex: /* a shared one must be writable even to wait for it; of private ones some are written */
		if (!(b & FUTEX_PRIVATE_) || futex_writes(b & FUTEX_COMMANDS_))
			add(t, a, 4);
		if (!(b & FUTEX_PRIVATE_) || (b & FUTEX_COMMANDS_) == FUTEX_WAKE_OP_)
			add(t, e, 4);
		break;
	case SYS_futex_waitv: add_waiters(t, a, b); break;
	case SYS_futex_requeue: add_waiters(t, a, 2); break;
	}
}

static uint64_t argument(const struct thread *t, unsigned n)
{
	static const uint8_t where[] = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9};
	return t->reg[where[n - 1]];
}

static void add_places(struct thread *t, const struct writes *w)
{
	for (unsigned i = 0; i < PLACES_MOST && w->place[i].argument; i++) {
		const struct written_range *place = &w->place[i];
		uint64_t times = 1;
		uint32_t number = 0;
		if (place->times & AT)
			times = safe_copy(&number, (const void *)argument(t, place->times & 7u), 4) ? number : 0;
		else if (place->times)
			times = argument(t, place->times);
		if (times > ALL_OF_MEMORY / place->bytes)
			times = ALL_OF_MEMORY / place->bytes;
		add(t, argument(t, place->argument), place->bytes * times);
	}
}

void written_add(struct thread *t, uint64_t at, uint64_t bytes) { add(t, at, bytes); }
void written_everything(struct thread *t) { add_everything(t); }

void written_begin(struct thread *t, uint64_t nr)
{
	const struct writes *w = nr < TABLE_COUNT ? &table[nr] : NULL;
	struct {
		uint64_t head[8];
	} message;
	t->written_count = 0;
	switch (w ? w->how : EVERYTHING) {
	case EVERYTHING: add_everything(t); break;
	case PLACES: add_places(t, w); break;
	case VECTOR: add_vector(t, argument(t, 2), argument(t, 3)); break;
	case MESSAGE: add_message(t, argument(t, 2)); break;
	case MESSAGES:
		for (uint64_t i = 0; i < argument(t, 3) && i < IOV_MOST; i++) {
			uint64_t at = argument(t, 2) + i * sizeof message;
			add_message(t, at);
			add(t, at, sizeof message);
		}
		add(t, argument(t, 5), 16);
		break;
	case DEPENDS: depends(t, nr); break;
	}
	written_open(t);
}

/* A page is protected only after it has been announced (rt.protected_pages) and the ranges have been looked at:
   one of the two sees the other. */
void written_open(struct thread *t)
{
	if (!t->written_count)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&rt.protected_pages, __ATOMIC_SEQ_CST))
		return;
	lock();
	for (unsigned i = 0; i < t->written_count; i++)
		memory_release(t->written[i].start, t->written[i].end - t->written[i].start);
	unlock();
}

void written_end(struct thread *t) { __atomic_store_n(&t->written_count, 0, __ATOMIC_RELEASE); }

static bool meets(uint64_t at, uint64_t bytes, uint64_t start, uint64_t end)
{
	return at && at < end && at + bytes > start;
}

/* Under rt.lock. */
bool written_now(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		const struct thread *t = rt.threads[i];
		if (!rt.slot_state[i])
			continue;
		for (unsigned k = 0, n = __atomic_load_n(&t->written_count, __ATOMIC_SEQ_CST); k < n; k++)
			if (t->written[k].start < end && t->written[k].end > start)
				return true;
		if (meets(t->clear_tid, 4, start, end) || meets(t->rseq, 64, start, end))
			return true;
	}
	return false;
}

/* Before a thread ends: the kernel clears its number, and gives up the locks of its robust list, when no thread is
   there any more to say so. */
void written_last(struct thread *t)
{
	uint64_t head[3], entry;
	lock();
	memory_pin(t->clear_tid, 4);
	if (t->robust_list && safe_copy(head, (const void *)t->robust_list, sizeof head)) {
		memory_pin(head[2] & ~1ull ? (head[2] & ~1ull) + head[1] : 0, 4);
		entry = head[0] & ~1ull;
		/* as far as the kernel goes: ROBUST_LIST_LIMIT */
		for (unsigned i = 0; i < 2048 && entry != t->robust_list; i++) {
			memory_pin(entry + head[1], 4);
			if (!safe_copy(&entry, (const void *)entry, 8))
				break;
			entry &= ~1ull;
		}
	}
	unlock();
}

/*
 * Several threads on a coherent machine: how their accesses are interleaved, where what they take from each
 * other is asked for (options.in_step).
 *
 * Each thread writes to a buffer of its own, and runs it through the models when it is full. If it did so
 * alone, a line that two threads write would change hands once a buffer, hundreds of accesses apart, where a
 * machine's cores take it from each other every few. So it is run in turns with what the others have written by
 * then: all that is there is divided into steps, and in each step every thread goes on by the same part of its
 * own.
 *
 *     this one's      |--------|--------|--------|--------|   to its end
 *     another's       |----|----|----|----|......               up to the records that it may still take back
 *
 * What always holds:
 *  1. rt.models_lock is held. Of another thread's buffer only [trace_start, the STREAM_TAIL newest records) is
 *     run, and its trace_start moves behind that: what it writes, completes or takes back meanwhile (stream_left,
 *     stream_undo, stream_tail) lies behind.
 *  2. Nobody waits for another for longer than WAIT_MOST_NS: the other may itself wait for what this one has.
 *  3. Each thread's records are run once, in order. Which of different threads' come first is the interleaving
 *     that took place, to a buffer's length, and even turns within. A system call ends a buffer (stream_call): threads
 *     that hand over by calls are run in the order in which they did.
 */
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"

#define TAKERS_MOST 16u

/* of the longest: about as many blocks as a core executes while a line comes from another one */
#define STEP_WORDS 16u
#define WAIT_NS 50000ull
#define WAITS_AT_ONCE 20u         /* by giving up the processor, before it sleeps */
#define WAIT_MOST_NS 100000000ull /* several time slices of a busy machine */

struct taker {
	struct thread *t;
	uint64_t *start, *at, *end;
};

/* Where the newest STREAM_TAIL records of what another thread has published begin; its trace_start: there are no
 * more. */
static uint64_t *settled(const struct thread *t)
{
	uint64_t *record[STREAM_TAIL], *end = __atomic_load_n(&t->trace, __ATOMIC_ACQUIRE), *at = t->trace_start;
	unsigned n = 0;
	if (!t->trace_base || at < t->trace_base || end > t->trace_end)
		return at;
	for (; at < end; at = stream_record_end(at))
		record[n++ % STREAM_TAIL] = at;
	return n <= STREAM_TAIL ? t->trace_start : record[n % STREAM_TAIL];
}

static uint64_t unread(const struct thread *t)
{
	uint64_t *end = __atomic_load_n(&t->trace, __ATOMIC_ACQUIRE),
		 *start = __atomic_load_n(&t->trace_start, __ATOMIC_ACQUIRE);
	return end > start ? (uint64_t)(end - start) : 0;
}

/* Another thread that runs, and has executed less than half of what this one has since both were run last. */
static bool is_behind(const struct thread *t, const struct thread *other, uint64_t words)
{
	return other != t && other->process == t->process && other->trace_base &&
	       !__atomic_load_n(&other->in_call, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&other->parked, __ATOMIC_ACQUIRE) && unread(other) < words / 2 &&
	       other->trace != other->trace_stood;
}

void stream_wait(const struct thread *t)
{
	const uint64_t pause[2] = {0, WAIT_NS};
	/* a request for attention waits for this thread */
	for (uint64_t waits = 0, waited = 0; !__atomic_load_n(&t->attention, __ATOMIC_ACQUIRE); waits++) {
		bool last = waited >= WAIT_MOST_NS, behind = false;
		uint64_t words = unread(t); /* fewer when another has run them meanwhile */
		for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
			struct thread *other = rt.threads[i];
			if (!rt.slot_state[i] || !is_behind(t, other, words))
				continue;
			behind = true;
			/* it stands still, for whatever reason: until it has moved nobody waits for it again */
			if (last)
				other->trace_stood = other->trace;
		}
		if (!behind || last)
			return;
		if (waits < WAITS_AT_ONCE) {
			sys0(SYS_sched_yield);
		} else {
			sys2(SYS_nanosleep, pause, 0);
			waited += WAIT_NS;
		}
	}
}

void stream_turns(struct thread *t, void (*run)(struct thread *t, const uint64_t *from, size_t n))
{
	struct taker taker[TAKERS_MOST] = {{t, t->trace_start, t->trace_start, t->trace}};
	unsigned n = 1;
	uint64_t most = (uint64_t)(t->trace - t->trace_start);
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i] && n < TAKERS_MOST; i++) {
		struct thread *other = rt.threads[i];
		if (other == t || !rt.slot_state[i] || other->process != t->process || other->models != t->models)
			continue;
		uint64_t *end = settled(other);
		if (end == other->trace_start)
			continue;
		taker[n++] = (struct taker){other, other->trace_start, other->trace_start, end};
		if ((uint64_t)(end - other->trace_start) > most)
			most = (uint64_t)(end - other->trace_start);
		other->trace_start = end;
	}
	uint64_t steps = n == 1 ? 1 : (most + STEP_WORDS - 1) / STEP_WORDS;
	for (uint64_t step = 1; step <= steps; step++)
		for (unsigned i = 0; i < n; i++) {
			struct taker *k = &taker[i];
			uint64_t *from = k->at, *to = k->start + (uint64_t)(k->end - k->start) * step / steps;
			while (k->at < to)
				k->at = stream_record_end(k->at);
			if (k->at != from)
				run(k->t, from, (size_t)(k->at - from));
		}
}

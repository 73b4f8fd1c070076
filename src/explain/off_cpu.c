#include "explain/off_cpu.h"

#include <stdlib.h>

#include "base/hash.h"

struct thread_state {
	uint32_t tid;
	uint32_t place; /* of the last sample since it came in */
	bool off, preempted;
	uint64_t out_ns;
	long call;
};

struct joining {
	struct off_cpu *out;
	VEC(struct thread_state) threads;
	struct hash_index by_tid, by_wait;
};

static struct thread_state *thread_of(struct joining *j, uint32_t tid)
{
	uint64_t hash = hash_number(HASH_BEGIN, tid);
	struct hash_search search = hash_find(&j->by_tid, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (j->threads.items[i].tid == tid)
			return &j->threads.items[i];
	const struct thread_state new = {.tid = tid, .place = OFF_CPU_NO_PLACE, .call = OFF_CPU_NO_CALL};
	if (!vec_push(&j->threads, new) || !hash_add(&j->by_tid, hash, (uint32_t)j->threads.count - 1))
		return NULL;
	return &j->threads.items[j->threads.count - 1];
}

static bool add_wait(struct joining *j, uint32_t place, long call, uint64_t ns)
{
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, place), (uint64_t)call);
	struct hash_search search = hash_find(&j->by_wait, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		struct off_cpu_wait *wait = &j->out->waits.items[i];
		if (wait->place == place && wait->call == call) {
			wait->waits++;
			wait->ns += ns;
			return true;
		}
	}
	const struct off_cpu_wait new = {.place = place, .call = call, .waits = 1, .ns = ns};
	return vec_push(&j->out->waits, new) && hash_add(&j->by_wait, hash, (uint32_t)j->out->waits.count - 1);
}

static bool come_in(struct joining *j, struct thread_state *t, uint64_t now_ns)
{
	bool done = true;
	if (t->off && t->preempted)
		j->out->preempted_ns += now_ns - t->out_ns;
	else if (t->off)
		done = add_wait(j, t->place, t->call, now_ns - t->out_ns);
	t->off = false;
	t->place = OFF_CPU_NO_PLACE;
	t->call = OFF_CPU_NO_CALL;
	return done;
}

static bool take(struct joining *j, const struct off_cpu_event *e)
{
	struct thread_state *t = thread_of(j, e->tid);
	if (!t)
		return false;
	switch (e->kind) {
	case OFF_CPU_SAMPLE: t->place = e->place; return true;
	case OFF_CPU_OUT:
		t->off = true;
		t->preempted = e->preempted;
		t->out_ns = e->time_ns;
		return true;
	case OFF_CPU_IN: return come_in(j, t, e->time_ns);
	case OFF_CPU_LOOK:
		if (t->off)
			t->call = e->call;
		return true;
	}
	return true;
}

/* Merge sort: of one time, a sample stays before the switch that it is of. */
static bool sort(struct off_cpu_event *events, size_t n)
{
	struct off_cpu_event *other = malloc((n ? n : 1) * sizeof *other), *from = events, *to = other;
	if (!other)
		return false;
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t at = 0; at < n; at += 2 * run) {
			size_t a = at, middle = at + run < n ? at + run : n, b = middle,
			       end = at + 2 * run < n ? at + 2 * run : n;
			for (size_t k = at; k < end; k++)
				to[k] = b == end || (a < middle && from[a].time_ns <= from[b].time_ns) ? from[a++]
												       : from[b++];
		}
		struct off_cpu_event *kept = from;
		from = to;
		to = kept;
	}
	for (size_t i = 0; from != events && i < n; i++)
		events[i] = from[i];
	free(other);
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct off_cpu_wait *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

bool off_cpu_join(struct off_cpu_event *events, size_t n, struct off_cpu *out)
{
	struct joining j = {.out = out};
	*out = (struct off_cpu){0};
	bool done = sort(events, n);
	for (size_t i = 0; done && i < n; i++)
		done = take(&j, &events[i]);
	for (size_t i = 0; i < j.threads.count; i++)
		out->unended += j.threads.items[i].off && !j.threads.items[i].preempted;
	if (out->waits.count)
		qsort(out->waits.items, out->waits.count, sizeof *out->waits.items, by_time);
	vec_free(&j.threads);
	hash_free(&j.by_tid);
	hash_free(&j.by_wait);
	return done;
}

void off_cpu_free(struct off_cpu *off) { vec_free(&off->waits); }

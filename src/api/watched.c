/* Counters that no longer count. See watched.h. */
#include "api/watched.h"

#include <string.h>
#include <time.h>

#include "api/user_read.h"

enum { STANDS_STILL_NS = 20000000 };

static bool always_moves(const struct counted_event *event)
{
	static const char *const names[] = {"instructions", "cycles", "branches"};
	if (!event->event.definition || !(event->event.levels & LEVEL_USER))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(event->event.definition->name, names[i]) == 0)
			return true;
	return false;
}

static bool time_stands(const struct tare_reading *last, const struct tare_reading *now)
{
	return now->enabled_ns == last->enabled_ns;
}

static bool count_stands(const struct counted_event *event, const struct tare_reading *last,
			 const struct tare_reading *now)
{
	return now->count == last->count &&
	       now->running_ns - last->running_ns == now->enabled_ns - last->enabled_ns && always_moves(event);
}

static bool stands(const struct counted_event *event, const struct tare_reading *last,
		   const struct tare_reading *now)
{
	return time_stands(last, now) || count_stands(event, last, now);
}

static uint64_t thread_time_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Those of still[] that move until the time is over are taken out of it. True: any is left. */
static bool wait_for(const struct tare_counters *c, const struct tare_reading *last, bool *still)
{
	struct tare_reading now[TARE_EVENTS_MOST];
	const uint64_t begin_ns = thread_time_ns();
	bool any;
	do {
		bool read = counters_read_raw(c, now);
		any = false;
		for (size_t e = 0; e < c->events.count; e++) {
			still[e] = still[e] && (!read || stands(&c->events.items[e], &last[e], &now[e]));
			any |= still[e];
		}
		if (!read)
			break;
	} while (any && thread_time_ns() - begin_ns < STANDS_STILL_NS);
	return any;
}

bool watched_moves(const struct tare_counters *c, const struct tare_reading *last, const struct tare_reading *now,
		   bool *lost)
{
	bool still[TARE_EVENTS_MOST] = {0}, any = false, hardware = false;
	for (size_t e = 0; e < c->events.count; e++) {
		still[e] = stands(&c->events.items[e], &last[e], &now[e]);
		any |= still[e];
	}
	if (!any || !wait_for(c, last, still))
		return true;
	for (size_t e = 0; e < c->events.count; e++)
		hardware |= still[e] && c->events.items[e].source == SOURCE_HW;
	for (size_t e = 0; lost && e < c->events.count; e++)
		lost[e] = still[e] || (hardware && c->events.items[e].source == SOURCE_HW);
	return false;
}

/* ---- sets ---- */

bool watched_possible(const struct tare_counters *c)
{
	return c->scope == TARE_THREAD && c->user->owner == user_thread();
}

void watched_begin(const struct tare_counters *c, const struct tare_reading *raw)
{
	c->watched->on = watched_possible(c);
	memcpy(c->watched->last, raw, c->events.count * sizeof *raw);
}

static void look(const struct tare_counters *c, const struct tare_reading *last, const struct tare_reading *now)
{
	bool lost[TARE_EVENTS_MOST] = {0};
	if (watched_moves(c, last, now, lost))
		return;
	c->watched->on = false;
	for (size_t e = 0; e < c->events.count; e++)
		if (lost[e])
			c->events.items[e].flags |= TARE_LOST_COUNTS;
}

void watched_reading(const struct tare_counters *c, const struct tare_reading *raw)
{
	struct watched *w = c->watched;
	if (!w->on || !watched_possible(c))
		return;
	bool still = false;
	for (size_t e = 0; e < c->events.count; e++)
		still |= stands(&c->events.items[e], &w->last[e], &raw[e]);
	if (__builtin_expect(still, 0))
		look(c, w->last, raw);
	memcpy(w->last, raw, c->events.count * sizeof *raw);
}

bool watched_end(const struct tare_counters *c, struct tare_reading *raw)
{
	struct tare_reading again[TARE_EVENTS_MOST];
	bool watched = c->watched->on && watched_possible(c) && counters_read_raw(c, raw);
	c->watched->on = false;
	if (watched && counters_read_raw(c, again))
		look(c, raw, again);
	return watched;
}

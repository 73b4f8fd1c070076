/* Starting, reading, stopping. tare_read() is what a measured program pays for: one read(2) a group, or none
 * (user_read.h), and subtractions. */
#include "api/counters.h"
#include "api/counters_call.h"
#include "api/engine_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "api/read_raw.h"
#include "api/overflow.h"
#include "api/user_read.h"
#include "api/watched.h"

bool counters_read_raw(const struct tare_counters *c, struct tare_reading *raw)
{
	int reason = read_raw(c, raw);
	if (reason)
		errno = reason == RAW_GONE ? 0 : reason;
	return reason == 0;
}

bool counters_read(const struct tare_counters *c, bool at_end, struct tare_reading *raw)
{
	switch (user_read(c, at_end ? USER_END : USER_BEGIN, raw)) {
	case USER_READ: return true;
	case USER_WRONG: errno = EIDRM; return false;
	default: user_called(c); return counters_read_raw(c, raw);
	}
}

static int32_t state_of(uint64_t enabled_ns, uint64_t running_ns, uint32_t flags)
{
	if (flags & TARE_LOST_COUNTS)
		return TARE_NOT_COUNTED;
	if (running_ns >= enabled_ns)
		return TARE_COUNTED;
	return running_ns && !(flags & TARE_SOME_CPUS) ? TARE_PARTLY : TARE_NOT_COUNTED;
}

static bool failed_to_read(struct tare_error *error)
{
	if (errno == EIDRM)
		return api_fail_text(
			error, TARE_ERROR_IO,
			"the counters' registers disagree with read(2): the readings since the last check may "
			"be wrong",
			"the next ones are by read(2); TARE_USER_READ=0 in the environment makes all so");
	if (errno)
		return api_fail_errno(error, TARE_ERROR_IO, errno, "cannot read the counters");
	return api_fail_text(error, TARE_ERROR_IO, "the kernel stopped counting", "");
}

static bool check_ready(const struct tare_counters *c, struct tare_error *error)
{
	if (!c->events.count)
		return api_fail_text(error, TARE_ERROR_USAGE, "the set has no events", "add one with tare_add()");
	return counters_here(c, error);
}

/* The usual case is seen without a call. */
static inline bool ready(const struct tare_counters *c, struct tare_error *error)
{
	return (c->events.count && c->guard && c->guard->alive) || check_ready(c, error);
}

static uint64_t in_unit(uint64_t count, double scale)
{
	return scale == 1 ? count : (uint64_t)((double)count * scale + 0.5);
}

COUNTERS_CALL(bool, tare_read, counters_read_now, const struct tare_counters *c, struct tare_reading *readings,
	      struct tare_error *error)
{
	if (!ready(c, error))
		return false;
	if (c->engine)
		return engine_read(c, readings, error);
	if (!counters_read(c, false, readings))
		return failed_to_read(error);
	watched_reading(c, readings);
	for (size_t i = 0; i < c->events.count; i++) {
		const struct counted_event *event = &c->events.items[i];
		struct tare_reading *r = &readings[i];
		r->count = in_unit(r->count - event->base.count, event->scale);
		r->enabled_ns -= event->base.enabled_ns;
		r->running_ns -= event->base.running_ns;
		r->state = state_of(r->enabled_ns, r->running_ns, event->flags);
		r->flags = event->flags;
	}
	return true;
}

COUNTERS_CALL(bool, tare_reset, counters_reset, struct tare_counters *c, struct tare_error *error)
{
	struct tare_reading raw[TARE_EVENTS_MOST];
	if (!ready(c, error))
		return false;
	if (c->engine)
		return engine_reset(c, error);
	if (!counters_read_raw(c, raw))
		return failed_to_read(error);
	for (size_t i = 0; i < c->events.count; i++) {
		c->events.items[i].base = raw[i];
		c->events.items[i].flags &= ~(uint32_t)TARE_LOST_COUNTS;
	}
	if (c->started)
		watched_begin(c, raw);
	return true;
}

/* request: PERF_EVENT_IOC_ENABLE or …_DISABLE, of everything. Of a group the leader alone: its members follow it.
 * With PERF_IOC_FLAG_GROUP they are enabled one after the other, and Linux (seen on 6.18) then leaves a running
 * group's members of another PMU off until the next context switch (task-clock beside page-faults counted 0 of 1.8
 * ms), while the group's running time goes on: counted, but wrong. */
static bool tell_all(const struct tare_counters *c, unsigned long request)
{
	for (size_t g = 0; g < c->groups.count; g++) {
		const struct counter_group *group = &c->groups.items[g];
		const struct counted_event *first = &c->events.items[group->first];
		for (size_t i = 0; i < first->n_fds; i++)
			if (ioctl(first->fds[i], request, 0) != 0)
				return false;
	}
	return true;
}

COUNTERS_CALL(bool, tare_start, counters_start, struct tare_counters *c, struct tare_error *error)
{
	if (!ready(c, error))
		return false;
	if (c->engine)
		return engine_start(c, error);
	if (c->started)
		return true;
	struct tare_reading raw[TARE_EVENTS_MOST];
	bool read = watched_possible(c) && counters_read_raw(c, raw);
	c->started = true; /* a handler may run before this call has ended */
	if (tell_all(c, PERF_EVENT_IOC_ENABLE) && overflows_switch(c, true)) {
		if (read)
			watched_begin(c, raw);
		return true;
	}
	int reason = errno;
	c->started = false;
	overflows_switch(c, false);
	tell_all(c, PERF_EVENT_IOC_DISABLE);
	return api_fail_errno(error, TARE_ERROR_SYSTEM, reason, "cannot start the counters");
}

/* A watched set's counting ended at this raw reading: what came between it and now is left out. */
static bool end_at(struct tare_counters *c, const struct tare_reading *end)
{
	struct tare_reading now[TARE_EVENTS_MOST];
	if (!counters_read_raw(c, now))
		return false;
	for (size_t i = 0; i < c->events.count; i++) {
		struct tare_reading *base = &c->events.items[i].base;
		base->count += now[i].count - end[i].count;
		base->enabled_ns += now[i].enabled_ns - end[i].enabled_ns;
		base->running_ns += now[i].running_ns - end[i].running_ns;
	}
	return true;
}

COUNTERS_CALL(bool, tare_stop, counters_stop, struct tare_counters *c, struct tare_reading *readings,
	      struct tare_error *error)
{
	if (!ready(c, error))
		return false;
	if (c->engine)
		return engine_stop(c, readings, error);
	struct tare_reading end[TARE_EVENTS_MOST];
	bool was = c->started;
	c->started = false; /* a handler that runs now arms nothing more */
	bool off = !was || overflows_switch(c, false), watched = was && off && watched_end(c, end);
	if (was && !(off && tell_all(c, PERF_EVENT_IOC_DISABLE))) {
		c->started = true;
		return api_fail_errno(error, TARE_ERROR_SYSTEM, errno, "cannot stop the counters");
	}
	if (watched && !end_at(c, end))
		return failed_to_read(error);
	return !readings || counters_read_now(c, readings, error);
}

void tare_difference(const struct tare_reading *before, const struct tare_reading *after, size_t n,
		     struct tare_reading *out)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t enabled_ns = after[i].enabled_ns - before[i].enabled_ns,
			 running_ns = after[i].running_ns - before[i].running_ns;
		out[i] = (struct tare_reading){.count = after[i].count - before[i].count,
					       .enabled_ns = enabled_ns,
					       .running_ns = running_ns,
					       .state = state_of(enabled_ns, running_ns, after[i].flags),
					       .flags = after[i].flags};
	}
}

bool tare_scaled(const struct tare_reading *reading, double *value)
{
	if (reading->state == TARE_NOT_COUNTED)
		return false;
	*value = (double)reading->count;
	if (reading->state == TARE_PARTLY)
		*value *= (double)reading->enabled_ns / (double)reading->running_ns;
	return true;
}

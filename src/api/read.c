/* Starting, reading, stopping. tare_read() is what a measured program pays for: one read(2) a group, and subtractions.
 *
 * A place is left in counters_read_raw() for reading from user space (issue 5: rdpmc, and the PMU's registers on arm64). */
#include "api/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/perf/counter.h"

/* What a group's read(2) gives (perf_event_open(2), "Reading results"). */
struct group_values {
	uint64_t n, enabled_ns, running_ns, counts[TARE_EVENTS_MOST];
};

/* All counters of one event. They are enabled together on a thread, whatever their kind of core: that time is one. */
static bool read_event(const struct counted_event *event, struct raw *sum)
{
	*sum = (struct raw){ 0 };
	for (size_t i = 0; i < event->n_fds; i++) {
		struct counter_values one;
		if (!counter_read(event->fds[i], &one))
			return false;
		sum->count += one.count;
		sum->running_ns += one.running_ns;
		if (i % event->kinds == 0)
			sum->enabled_ns += one.enabled_ns;
	}
	return true;
}

static bool read_group(int leader, const struct group *group, struct raw *raw)
{
	struct group_values values;
	size_t bytes = offsetof(struct group_values, counts) + group->n * sizeof *values.counts;
	ssize_t got;
	while ((got = read(leader, &values, bytes)) < 0 && errno == EINTR)
		;
	if (got != (ssize_t)bytes) {
		if (got >= 0)
			errno = 0;
		return false;
	}
	for (size_t i = 0; i < group->n; i++)
		raw[i] = (struct raw){ values.counts[i], values.enabled_ns, values.running_ns };
	return true;
}

bool counters_read_raw(const struct tare_counters *c, struct raw *raw)
{
	for (size_t g = 0; g < c->groups.count; g++) {
		const struct group *group = &c->groups.items[g];
		const struct counted_event *first = &c->events.items[group->first];
		if (!(group->grouped ? read_group(first->fds[0], group, raw + group->first)
				     : read_event(first, raw + group->first)))
			return false;
	}
	return true;
}

static int32_t state_of(uint64_t enabled_ns, uint64_t running_ns, uint32_t flags)
{
	if (running_ns >= enabled_ns)
		return TARE_COUNTED;
	return running_ns && !(flags & TARE_SOME_CPUS) ? TARE_PARTLY : TARE_NOT_COUNTED;
}

static bool failed_to_read(struct tare_error *error)
{
	if (errno)
		return api_fail_errno(error, TARE_ERROR_IO, errno, "cannot read the counters");
	return api_fail_text(error, TARE_ERROR_IO, "the kernel has given the counters up", "");
}

static bool ready(const struct tare_counters *c, struct tare_error *error)
{
	if (!c->events.count)
		return api_fail_text(error, TARE_ERROR_USAGE, "the set has no events", "add one with tare_add()");
	return counters_here(c, error);
}

static uint64_t in_unit(uint64_t count, double scale)
{
	return scale == 1 ? count : (uint64_t)((double)count * scale + 0.5);
}

bool tare_read(const struct tare_counters *c, struct tare_reading *readings, struct tare_error *error)
{
	struct raw raw[TARE_EVENTS_MOST];
	if (!ready(c, error))
		return false;
	if (!counters_read_raw(c, raw))
		return failed_to_read(error);
	for (size_t i = 0; i < c->events.count; i++) {
		const struct counted_event *event = &c->events.items[i];
		uint64_t enabled_ns = raw[i].enabled_ns - event->base.enabled_ns,
			 running_ns = raw[i].running_ns - event->base.running_ns;
		readings[i] = (struct tare_reading){ .count = in_unit(raw[i].count - event->base.count, event->scale),
						     .enabled_ns = enabled_ns,
						     .running_ns = running_ns,
						     .state = state_of(enabled_ns, running_ns, event->flags),
						     .flags = event->flags };
	}
	return true;
}

bool tare_reset(struct tare_counters *c, struct tare_error *error)
{
	struct raw raw[TARE_EVENTS_MOST];
	if (!ready(c, error))
		return false;
	if (!counters_read_raw(c, raw))
		return failed_to_read(error);
	for (size_t i = 0; i < c->events.count; i++)
		c->events.items[i].base = raw[i];
	return true;
}

/* request: PERF_EVENT_IOC_ENABLE or …_DISABLE, of everything. Of a group the leader alone: its members follow it. With
 * PERF_IOC_FLAG_GROUP they are enabled one after the other, and Linux (seen on 6.18) then leaves a running group's
 * members of another PMU off until the next context switch (task-clock beside page-faults counted 0 of 1.8 ms), while
 * the group's running time goes on: counted, but wrong. */
static bool tell_all(const struct tare_counters *c, unsigned long request)
{
	for (size_t g = 0; g < c->groups.count; g++) {
		const struct group *group = &c->groups.items[g];
		const struct counted_event *first = &c->events.items[group->first];
		for (size_t i = 0; i < first->n_fds; i++)
			if (ioctl(first->fds[i], request, 0) != 0)
				return false;
	}
	return true;
}

bool tare_start(struct tare_counters *c, struct tare_error *error)
{
	if (!ready(c, error))
		return false;
	if (c->started)
		return true;
	if (!tell_all(c, PERF_EVENT_IOC_ENABLE)) {
		int reason = errno;
		tell_all(c, PERF_EVENT_IOC_DISABLE);
		return api_fail_errno(error, TARE_ERROR_SYSTEM, reason, "cannot start the counters");
	}
	c->started = true;
	return true;
}

bool tare_stop(struct tare_counters *c, struct tare_reading *readings, struct tare_error *error)
{
	if (!ready(c, error))
		return false;
	if (c->started && !tell_all(c, PERF_EVENT_IOC_DISABLE))
		return api_fail_errno(error, TARE_ERROR_SYSTEM, errno, "cannot stop the counters");
	c->started = false;
	return !readings || tare_read(c, readings, error);
}

void tare_difference(const struct tare_reading *before, const struct tare_reading *after, size_t n,
		     struct tare_reading *out)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t enabled_ns = after[i].enabled_ns - before[i].enabled_ns,
			 running_ns = after[i].running_ns - before[i].running_ns;
		out[i] = (struct tare_reading){ .count = after[i].count - before[i].count,
						.enabled_ns = enabled_ns,
						.running_ns = running_ns,
						.state = state_of(enabled_ns, running_ns, after[i].flags),
						.flags = after[i].flags };
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

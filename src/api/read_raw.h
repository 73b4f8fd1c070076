/* Reading a set's counters by read(2), without libc: for regions, whose stubs may call nothing (stub_pass.c), and
 * for all others. It is not a cancellation point. */
#ifndef TARE_API_READ_RAW_H
#define TARE_API_READ_RAW_H

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <unistd.h>
#endif

#include "api/counters.h"

/* The bytes read, or −errno. */
static inline long raw_read(int fd, void *to, size_t bytes)
{
	long got;
	do {
#if defined(__x86_64__)
		__asm__ volatile("syscall"
				 : "=a"(got)
				 : "0"((long)SYS_read), "D"((long)fd), "S"(to), "d"(bytes)
				 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
		register long x0 __asm__("x0") = fd;
		register void *x1 __asm__("x1") = to;
		register size_t x2 __asm__("x2") = bytes;
		register long x8 __asm__("x8") = SYS_read;
		__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
		got = x0;
#else
		got = read(fd, to, bytes);
		if (got < 0)
			got = -errno;
#endif
	} while (got == -EINTR);
	return got;
}

/* What a group's read(2) gives (perf_event_open(2), "Reading results"); without PERF_FORMAT_GROUP, `one`. */
union raw_values {
	struct {
		uint64_t n, enabled_ns, running_ns, counts[TARE_EVENTS_MOST];
	};
	struct {
		uint64_t count, enabled_ns, running_ns;
	} one;
};

/* RAW_GONE: the kernel put the counter into its error state. */
enum { RAW_GONE = -1 };

static inline int raw_failed(long got) { return got < 0 ? (int)-got : RAW_GONE; }

/* All counters of one event. They are enabled together on a thread, whatever their kind of core: that time is one.
 */
static inline int raw_event(const struct counted_event *event, struct tare_reading *raw)
{
	union raw_values values;
	for (size_t i = 0; i < event->n_fds; i++) {
		long got = raw_read(event->fds[i], &values.one, sizeof values.one);
		if (got != sizeof values.one)
			return raw_failed(got);
		raw->count = values.one.count + (i ? raw->count : 0);
		raw->running_ns = values.one.running_ns + (i ? raw->running_ns : 0);
		if (i == 0)
			raw->enabled_ns = values.one.enabled_ns;
		else if (i % event->kinds == 0)
			raw->enabled_ns += values.one.enabled_ns;
	}
	return 0;
}

static inline int raw_group(int leader, size_t n, struct tare_reading *raw)
{
	union raw_values values;
	size_t bytes = offsetof(union raw_values, counts) + n * sizeof *values.counts;
	long got = raw_read(leader, &values, bytes);
	if (got != (long)bytes)
		return raw_failed(got);
	for (size_t i = 0; i < n; i++) {
		raw[i].count = values.counts[i];
		raw[i].enabled_ns = values.enabled_ns;
		raw[i].running_ns = values.running_ns;
	}
	return 0;
}

/* Fills count, enabled_ns and running_ns of raw[events.count]. 0, an errno, or RAW_GONE. */
static inline int read_raw(const struct tare_counters *c, struct tare_reading *raw)
{
	for (size_t g = 0; g < c->groups.count; g++) {
		const struct counter_group *group = &c->groups.items[g];
		const struct counted_event *first = &c->events.items[group->first];
		int reason = group->grouped ? raw_group(first->fds[0], group->n, raw + group->first)
					    : raw_event(first, raw + group->first);
		if (reason)
			return reason;
	}
	return 0;
}

#endif

/* Why the kernel refused a counter, and what to do: a pure function of the errno and of what is known of the
 * machine, so that every case can be tested. Sources: perf_event_open(2), ERRORS; kernel/events/core.c. */
#ifndef TARE_BACKEND_PERF_FAILURE_H
#define TARE_BACKEND_PERF_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "event/event.h"

/* What the machine and this user's rights are; see machine.h for where it comes from. */
struct machine_state {
	bool has_perf;        /* /proc/sys/kernel/perf_event_paranoid is there */
	int paranoid;         /* its value; meaningless without has_perf */
	bool perfmon;         /* CAP_PERFMON or CAP_SYS_ADMIN is effective */
	bool initial_userns;  /* capabilities count in the initial user namespace only */
	bool seccomp;         /* a seccomp filter is at work */
	bool container;       /* signs of a container were seen */
	bool watchdog;        /* kernel.nmi_watchdog is 1: it holds a hardware counter */
	bool core_pmu;        /* the kernel has a core PMU */
	const char *hypervisor; /* "" when none was seen */
	uint64_t open_files_soft, open_files_hard; /* RLIMIT_NOFILE */
	uint64_t mlock_kilobytes; /* kernel.perf_event_mlock_kb */
};

enum counter_action { COUNTER_OPEN, COUNTER_MMAP, COUNTER_READ };

/* What was tried. */
struct attempt {
	enum counter_action action;
	const char *event;     /* its label */
	const char *how;       /* its encoding's text; may be NULL */
	unsigned levels;
	uint32_t type;         /* perf_event_attr.type */
	pid_t task;            /* 0: tare or its program; -1: any */
	int cpu;               /* -1: any */
	bool threads_only;     /* attr.inherit_thread was set */
	bool own_levels_only;  /* the same event can be opened when both levels are asked for */
	size_t counters;       /* how many are open or wanted */
};

bool failure_explain(int os_errno, const struct attempt *attempt, const struct machine_state *machine,
		     struct error *err);

#endif

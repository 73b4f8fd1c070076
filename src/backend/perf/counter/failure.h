/* Why the kernel refused a counter, and what to do: a pure function of the errno and of what is known of the
 * machine, so that every case can be tested (tests/unit/perf_errors_test.c).
 * Sources: perf_event_open(2), ERRORS; Documentation/admin-guide/perf-security.rst; kernel/events/core.c. */
#ifndef TARE_BACKEND_PERF_COUNTER_FAILURE_H
#define TARE_BACKEND_PERF_COUNTER_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "event/event.h"
#include "result/result.h"

/* What the machine is and what this user may do on it; machine.c finds it out. */
struct machine_state {
	bool has_perf;        /* /proc/sys/kernel/perf_event_paranoid is there */
	int paranoid;         /* its value; without meaning when !has_perf */
	bool privileged;      /* CAP_PERFMON or CAP_SYS_ADMIN, in the initial user namespace */
	bool root;            /* user 0 */
	bool seccomp;         /* a seccomp filter is at work */
	bool container;       /* signs of a container were seen */
	bool watchdog;        /* kernel.nmi_watchdog = 1: it holds a hardware counter on each CPU */
	char core_pmu[64];    /* the kernel's core PMU; "" when it has none */
	char hypervisor[64];  /* "" when none was seen */
	uint64_t open_files;  /* RLIMIT_NOFILE's hard limit */
	long mlock_kilobytes; /* kernel.perf_event_mlock_kb; -1: unknown */
};

enum counter_action { COUNTER_OPEN, COUNTER_MMAP, COUNTER_READ };

/* What was tried. */
struct attempt {
	enum counter_action action;
	const char *event; /* its label */
	const char *how;   /* the text of its encoding; may be NULL */
	unsigned levels;
	uint32_t type;     /* perf_event_attr.type */
	pid_t task;        /* 0: tare's own or its program's; -1: whatever runs on cpu */
	int cpu;           /* -1: any */
	bool threads_only; /* attr.inherit_thread was set */
	bool of_cgroup;    /* of a control group's tasks */
	size_t counters;   /* how many were wanted in all */
};

struct failure {
	enum error_code code;
	char why[256];  /* "kernel.perf_event_paranoid is 3" */
	char step[256]; /* the one step that would allow it; "" when there is none */
};

struct failure failure_of(int os_errno, const struct attempt *attempt, const struct machine_state *machine);

/* The same as "cannot open counter 'cycles' on CPU 3: why". Fills *err (NULL is accepted) and returns false. */
bool failure_explain(int os_errno, const struct attempt *attempt, const struct machine_state *machine,
		     struct error *err);

/* What a counter's reading is after a failure of this kind. */
enum reading_state failure_state(enum error_code code);

#endif

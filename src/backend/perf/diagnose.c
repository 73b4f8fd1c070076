/* What `tare doctor` says of the kernel's counters. Each line is found by trying, as the user that asks; what
 * files and CPUID say only explains it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/perf/counter/pmu.h"
#include "backend/perf/trial/answers.h"
#include "backend/perf/trial/special.h"
#include "backend/perf/state.h"
#include "backend/perf/trial/trial.h"
#include "base/str.h"

struct report {
	struct backend *backend;
	const struct machine_state *machine;
	struct finding *findings;
	size_t most, *count;
	bool hardware;       /* counters work */
	struct error silent; /* why tracing is not tried; code 0: it is */
};

static void add(struct report *r, enum finding_state state, const char *what, const char *detail, const char *step)
{
	if (*r->count >= r->most)
		return;
	struct finding *f = &r->findings[(*r->count)++];
	*f = (struct finding){.state = state};
	snprintf(f->what, sizeof f->what, "%s", what);
	snprintf(f->detail, sizeof f->detail, "%s", detail);
	snprintf(f->step, sizeof f->step, "%s", step);
}

static struct event_encoding encoding_of(uint32_t type, uint64_t config)
{
	return (struct event_encoding){.type = type, .config = config, .scale = 1, .how = ""};
}

static struct trial try(const struct report *r, uint32_t type, uint64_t config, unsigned levels, int cpu)
{
	struct event_encoding encoding = encoding_of(type, config);
	struct event none = {0};
	if (cpu >= 0)
		return trial_run_one(&encoding, levels, cpu, NULL);
	struct variants variants = variants_of(&encoding, core_kinds(r->backend), r->backend->machine.sysfs_root);
	return trial_run(&variants, levels, stimulus_find(&none, &encoding, "", levels));
}

/* Why a trial did not work. */
static struct failure failure_of_trial(const struct report *r, const struct trial *trial, uint32_t type,
				       unsigned levels, int cpu)
{
	struct attempt attempt = {.event = "",
				  .levels = levels,
				  .type = type,
				  .task = cpu < 0 ? COUNTER_SELF : COUNTER_ANY_TASK,
				  .cpu = cpu,
				  .counters = 1};
	struct failure failure = {.code = ERROR_UNSUPPORTED};
	if (trial->outcome == TRIAL_REFUSED)
		return failure_of(trial->os_errno, &attempt, r->machine);
	if (trial->outcome == TRIAL_NEVER_RAN)
		return failure_of(EBUSY, &attempt, r->machine);
	snprintf(failure.why, sizeof failure.why,
		 "a counter opens, but counted %" PRIu64 " where it must count %" PRIu64 " or more", trial->count,
		 trial->least);
	return failure;
}

static void add_failure(struct report *r, const char *what, const struct failure *failure)
{
	add(r, FINDING_NO, what, failure->why, failure->step);
}

/* ---- hardware ---- */

/* How many counters of instructions run at the same time. */
static size_t counters_at_once(void)
{
	enum { MOST = 32 };
	struct event_encoding encoding = encoding_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct counter_request requests[MOST];
	int cpus[MOST];
	for (size_t i = 0; i < MOST; i++) {
		requests[i] = (struct counter_request){.encoding = &encoding, .levels = LEVEL_USER};
		cpus[i] = COUNTER_ANY_CPU;
	}
	size_t n = 1;
	while (n < MOST && trial_fits(requests, cpus, n + 1))
		n++;
	return n;
}

static void examine_hardware(struct report *r)
{
	static const char what[] = "hardware counters";
	const struct machine_state *m = r->machine;
	struct trial trial = try(r, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, LEVEL_USER, COUNTER_ANY_CPU);
	char detail[256];
	r->hardware = trial.outcome == TRIAL_WORKS;
	if (!r->hardware) {
		struct failure failure = failure_of_trial(r, &trial, PERF_TYPE_HARDWARE, LEVEL_USER,
							  COUNTER_ANY_CPU);
		add_failure(r, what, &failure);
		return;
	}
	snprintf(detail, sizeof detail,
		 "%s: %" PRIu64 " instructions counted of a loop of %u; %zu counters of instructions at a time",
		 m->core_pmu[0] ? m->core_pmu : "a PMU", trial.count, 2u * STIMULUS_LOOPS, counters_at_once());
	add(r, FINDING_WORKS, what, detail, "");
}

static void examine_user_reading(struct report *r)
{
	static const char what[] = "reading without system calls";
	if (!r->hardware) {
		add(r, FINDING_NO, what, "there are no hardware counters to read", "");
		return;
	}
	struct event_encoding encoding = encoding_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct counter_request request = {.encoding = &encoding, .levels = LEVEL_USER};
#if defined(__aarch64__)
	encoding.config1 = 2; /* format/rdpmc of armv8_pmuv3: config1:1 */
	static const char step[] = "as root: sysctl kernel.perf_user_access=1";
#else
	static const char step[] = "as root: echo 1 > /sys/bus/event_source/devices/cpu/rdpmc";
#endif
	bool allowed = false;
	int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
	if (fd >= 0) {
		size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
		counter_enable(fd);
		struct perf_event_mmap_page *page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (page != MAP_FAILED) {
			/* index is 0 while the counter cannot be read that way, whatever the capability says */
			allowed = page->cap_user_rdpmc && page->index != 0;
			munmap(page, bytes);
		}
		close(fd);
	}
	if (allowed)
		add(r, FINDING_WORKS, what, "the kernel allows the program to read its counters itself", "");
	else
		add(r, FINDING_NO, what, "the kernel does not allow programs to read counters themselves", step);
}

/* ---- levels, whole CPUs ---- */

static void examine_kernel_level(struct report *r)
{
	static const char what[] = "the kernel's part";
	/* with the best counter there is: instructions, else switches, which take place in the kernel */
	uint32_t type = r->hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	uint64_t config = r->hardware ? (uint64_t)PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_SW_CONTEXT_SWITCHES;
	struct trial trial = try(r, type, config, LEVEL_KERNEL, COUNTER_ANY_CPU);
	char detail[256];
	if (trial.outcome != TRIAL_WORKS) {
		struct failure failure = failure_of_trial(r, &trial, type, LEVEL_KERNEL, COUNTER_ANY_CPU);
		add_failure(r, what, &failure);
		return;
	}
	snprintf(detail, sizeof detail, "%" PRIu64 " %s counted for %s", trial.count,
		 r->hardware        ? "instructions"
		 : trial.count == 1 ? "context switch"
				    : "context switches",
		 r->hardware ? "300 system calls" : "4 sleeps");
	add(r, FINDING_WORKS, what, detail, "");
}

static void examine_cpus(struct report *r)
{
	static const char what[] = "whole CPUs (-a, -C)";
	int cpu = sched_getcpu();
	uint32_t type = r->hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	uint64_t config = r->hardware ? (uint64_t)PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_SW_CONTEXT_SWITCHES;
	unsigned levels = LEVEL_USER | LEVEL_KERNEL;
	if (cpu < 0)
		cpu = 0;
	struct trial trial = try(r, type, config, levels, cpu);
	/* what runs on that CPU is anybody's: that the counter runs is enough */
	if (trial.outcome == TRIAL_WORKS || trial.outcome == TRIAL_UNMOVED) {
		add(r, FINDING_WORKS, what, "the processes of all users can be counted", "");
		return;
	}
	struct failure failure = failure_of_trial(r, &trial, type, levels, cpu);
	add_failure(r, what, &failure);
}

/* ---- what the kernel itself counts ---- */

static void examine_software(struct report *r)
{
	static const struct {
		const char *name;
		uint64_t config;
		unsigned levels;
	} events[] = {
		/* which takes no notice of levels: see available.c */
		{"task-clock", PERF_COUNT_SW_TASK_CLOCK, LEVEL_USER},
		{"page-faults:u", PERF_COUNT_SW_PAGE_FAULTS, LEVEL_USER},
		{"page-faults", PERF_COUNT_SW_PAGE_FAULTS, LEVEL_USER | LEVEL_KERNEL},
		{"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, LEVEL_USER | LEVEL_KERNEL},
		{"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, LEVEL_USER | LEVEL_KERNEL},
	};
	struct str good = {0}, bad = {0};
	struct failure failure = {0};
	size_t works = 0, n = sizeof events / sizeof *events;
	for (size_t i = 0; i < n; i++) {
		struct trial trial = try(r, PERF_TYPE_SOFTWARE, events[i].config, events[i].levels,
					 COUNTER_ANY_CPU);
		/* UNMOVED: one CPU alone has no migrations; what the kernel counts itself, it counts */
		bool counts = trial.outcome == TRIAL_WORKS || trial.outcome == TRIAL_UNMOVED;
		struct str *list = counts ? &good : &bad;
		str_appendf(list, "%s%s", list->length ? ", " : "", events[i].name);
		works += counts;
		if (!counts && !failure.why[0])
			failure = failure_of_trial(r, &trial, PERF_TYPE_SOFTWARE, events[i].levels,
						   COUNTER_ANY_CPU);
	}
	char detail[512];
	if (works == n)
		snprintf(detail, sizeof detail, "%s", good.text ? good.text : "");
	else if (works)
		snprintf(detail, sizeof detail, "%s; not %s (%s)", good.text, bad.text, failure.why);
	else
		snprintf(detail, sizeof detail, "%s", failure.why);
	add(r,
	    works == n ? FINDING_WORKS
	    : works    ? FINDING_PARTLY
		       : FINDING_NO,
	    "the kernel's own counts", detail, failure.step);
	str_free(&good);
	str_free(&bad);
}

static void examine_tracepoints(struct report *r)
{
	static const char what[] = "tracepoints";
	if (r->silent.code) {
		add(r, FINDING_NO, what, r->silent.text, "restart the machine");
		return;
	}
	struct probe probe = probe_tracepoint();
	char detail[256];
	if (probe.outcome == PROBE_WORKS) {
		snprintf(detail, sizeof detail, "sched:sched_switch counted %" PRIu64 " for 4 sleeps",
			 probe.count);
		add(r, FINDING_WORKS, what, detail, "");
	} else if (probe.outcome == PROBE_HIDDEN) {
		add(r, FINDING_NO, what, "the numbers of the tracepoints in tracefs can be read by root only",
		    "run as root");
	} else if (probe.outcome == PROBE_ABSENT) {
		add(r, FINDING_NO, what, "this kernel was built without them (CONFIG_EVENT_TRACING)", "");
	} else if (probe.outcome == PROBE_NOT_MOUNTED) {
		add(r, FINDING_NO, what, "tracefs, which lists them, is not mounted",
		    "as root: mount -t tracefs none /sys/kernel/tracing");
	} else {
		struct failure failure = failure_of_trial(r, &probe.trial, PERF_TYPE_TRACEPOINT,
							  LEVEL_USER | LEVEL_KERNEL, COUNTER_ANY_CPU);
		add_failure(r, what, &failure);
	}
}

static void examine_uprobes(struct report *r)
{
	static const char what[] = "uprobes";
	if (r->silent.code) {
		add(r, FINDING_NO, what, r->silent.text, "restart the machine");
		return;
	}
	struct probe probe = probe_uprobe(r->backend->machine.sysfs_root);
	char detail[256];
	if (probe.outcome == PROBE_WORKS) {
		snprintf(detail, sizeof detail, "a function called %u times was counted %" PRIu64 " times",
			 PROBE_CALLS, probe.count);
		add(r, FINDING_WORKS, what, detail, "");
	} else if (probe.outcome == PROBE_ABSENT) {
		add(r, FINDING_NO, what, "this kernel was built without CONFIG_UPROBE_EVENTS",
		    "use a kernel that has it; those of the distributions do");
	} else if (probe.trial.outcome == TRIAL_REFUSED &&
		   (probe.trial.os_errno == EACCES || probe.trial.os_errno == EPERM) && !r->machine->privileged) {
		/* perf_uprobe_event_init(), whatever perf_event_paranoid says */
		add(r, FINDING_NO, what, "only a privileged user may set them",
		    "run as root, or with CAP_PERFMON");
	} else {
		struct failure failure = failure_of_trial(r, &probe.trial, PERF_TYPE_MAX,
							  LEVEL_USER | LEVEL_KERNEL, COUNTER_ANY_CPU);
		add_failure(r, what, &failure);
	}
}

#if defined(__x86_64__) || defined(__i386__)
static void examine_tsc(struct report *r)
{
	static const char what[] = "time stamp counter";
	struct probe probe = probe_tsc(r->backend->machine.sysfs_root);
	char detail[256];
	if (probe.outcome == PROBE_ABSENT) {
		add(r, FINDING_NO, what, "this kernel has no PMU 'msr'",
		    "use a kernel with CONFIG_PERF_EVENTS_X86_MSR");
	} else if (probe.outcome == PROBE_WORKS) {
		snprintf(detail, sizeof detail, "msr/tsc/ advanced by %" PRIu64 " in a loop of %d turns",
			 probe.count, STIMULUS_LOOPS);
		add(r, FINDING_WORKS, what, detail, "");
	} else {
		struct failure failure = failure_of_trial(r, &probe.trial, PERF_TYPE_MAX,
							  LEVEL_USER | LEVEL_KERNEL, COUNTER_ANY_CPU);
		add_failure(r, what, &failure);
	}
}
#endif

/* ---- the rules ---- */

static void examine_paranoid(struct report *r)
{
	static const char what[] = "kernel.perf_event_paranoid";
	const struct machine_state *m = r->machine;
	char detail[256];
	if (!m->has_perf) {
		add(r, FINDING_NO, what, "it does not exist: this kernel cannot count, or hides that it can", "");
		return;
	}
	if (m->privileged) {
		snprintf(detail, sizeof detail,
			 "%d, which does not restrict this user (CAP_PERFMON or CAP_SYS_ADMIN)", m->paranoid);
		add(r, FINDING_WORKS, what, detail, "");
	} else if (m->paranoid > 2) {
		snprintf(detail, sizeof detail, "%d: nothing may be counted", m->paranoid);
		add(r, FINDING_NO, what, detail, "as root: sysctl kernel.perf_event_paranoid=1");
	} else if (m->paranoid > 1) {
		snprintf(detail, sizeof detail, "%d: your own programs may be counted, at user level only",
			 m->paranoid);
		add(r, FINDING_PARTLY, what, detail, "as root: sysctl kernel.perf_event_paranoid=1");
	} else if (m->paranoid > 0) {
		snprintf(detail, sizeof detail,
			 "%d: your own programs may be counted, also the kernel's part; whole CPUs may not",
			 m->paranoid);
		add(r, FINDING_PARTLY, what, detail, "as root: sysctl kernel.perf_event_paranoid=0");
	} else {
		snprintf(detail, sizeof detail, "%d: programs and whole CPUs may be counted", m->paranoid);
		add(r, FINDING_WORKS, what, detail, "");
	}
}

static void examine_watchdog(struct report *r)
{
	static const char what[] = "NMI watchdog";
	if (r->machine->watchdog)
		add(r, FINDING_PARTLY, what, "on: it holds a hardware counter of each CPU",
		    "as root: sysctl kernel.nmi_watchdog=0");
	else
		add(r, FINDING_WORKS, what, "off, or not there: it holds no hardware counter", "");
}

static void examine_hypervisor(struct report *r)
{
	static const char what[] = "hypervisor";
	const char *name = r->machine->hypervisor;
	char detail[256];
	if (!name[0]) {
		add(r, FINDING_WORKS, what, "none is seen", "");
		return;
	}
	snprintf(detail, sizeof detail,
		 r->hardware ? "%s: it provides the hardware events, from the host's counters"
			     : "%s: it decides what hardware counters there are",
		 name);
	add(r, r->hardware ? FINDING_WORKS : FINDING_PARTLY, what, detail, "");
}

static void examine_sandbox(struct report *r)
{
	const struct machine_state *m = r->machine;
	if (!m->container && !m->seccomp)
		return;
	add(r, FINDING_PARTLY, "container",
	    m->container && m->seccomp
		    ? "this looks like a container with a seccomp filter: the findings above show what they forbid"
	    : m->container ? "this looks like a container"
			   : "a seccomp filter is active: the findings above show what it forbids",
	    "");
}

void perf_diagnose(struct backend *backend, struct finding *findings, size_t most, size_t *count)
{
	struct report r = {.backend = backend,
			   .machine = machine_state(backend),
			   .findings = findings,
			   .most = most,
			   .count = count};
	tracing_answers(&r.silent);
	examine_hardware(&r);
	examine_kernel_level(&r);
	examine_cpus(&r);
	examine_software(&r);
	examine_tracepoints(&r);
	examine_uprobes(&r);
#if defined(__x86_64__) || defined(__i386__)
	examine_tsc(&r);
#endif
	examine_user_reading(&r);
	examine_paranoid(&r);
	examine_watchdog(&r);
	examine_hypervisor(&r);
	examine_sandbox(&r);
}

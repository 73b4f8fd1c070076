/* Every refusal of perf_event_open(2) has its own message and its own remedy. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "backend/perf/counter/failure.h"
#include "tap.h"

enum { BOTH = LEVEL_USER | LEVEL_KERNEL, DYNAMIC = 20 };

/* An ordinary user of an ordinary machine with a PMU. */
#define MACHINE(level, pmu) .has_perf = true, .paranoid = level, .core_pmu = pmu, .open_files = 1024
#define PARANOID(level) MACHINE(level, "cpu"), .mlock_kilobytes = 516
#define USER PARANOID(2)
#define NO_PMU MACHINE(2, ""), .mlock_kilobytes = 516
#define ROOT USER, .privileged = true, .root = true
#define CYCLES .event = "cycles", .levels = BOTH, .type = PERF_TYPE_HARDWARE, .cpu = -1
#define ON_CPU .event = "cycles:u", .levels = LEVEL_USER, .type = PERF_TYPE_HARDWARE, .task = -1, .cpu = 3
#define OF_TASK .event = "cycles:u", .levels = LEVEL_USER, .type = PERF_TYPE_HARDWARE, .task = 77, .cpu = -1

static const struct {
	const char *fact;
	int os_errno;
	struct attempt attempt;
	struct machine_state machine;
	enum error_code code;
	enum reading_state state;
	const char *why, *step; /* parts of the texts; step NULL: there is none */
} cases[] = {
	{"EACCES, paranoid 2, kernel level: user level, or the sysctl",
	 EACCES,
	 {CYCLES},
	 {USER},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "perf_event_paranoid is 2, and counting the kernel's part takes 1",
	 "perf_event_paranoid=1"},
	{"EACCES, paranoid 3: nothing may be counted, not even at user level",
	 EACCES,
	 {.event = "cycles:u", .levels = LEVEL_USER, .type = PERF_TYPE_HARDWARE, .cpu = -1},
	 {PARANOID(3)},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "perf_event_paranoid is 3",
	 "perf_event_paranoid=2"},
	{"EACCES, paranoid 4 (Ubuntu): the same",
	 EACCES,
	 {CYCLES},
	 {PARANOID(4)},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "perf_event_paranoid is 4",
	 "perf_event_paranoid=2"},
	{"EACCES, paranoid 1, a whole CPU: the sysctl for that",
	 EACCES,
	 {ON_CPU},
	 {PARANOID(1)},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "counting whole CPUs takes 0",
	 "perf_event_paranoid=0"},
	{"EACCES, paranoid 2, a whole CPU: one step is enough, the larger one",
	 EACCES,
	 {ON_CPU},
	 {USER},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "counting whole CPUs takes 0",
	 "perf_event_paranoid=0"},
	{"EACCES, another user's process: it is not the sysctl",
	 EACCES,
	 {OF_TASK},
	 {USER},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "belongs to another user",
	 "as that user, or as root"},
	{"EACCES, though the user is privileged: a security module",
	 EACCES,
	 {CYCLES},
	 {ROOT},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "security module",
	 "journalctl"},
	{"EACCES, paranoid 1, own program at user level: a security module",
	 EACCES,
	 {.event = "cycles:u", .levels = LEVEL_USER, .cpu = -1},
	 {PARANOID(1)},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "security module",
	 "journalctl"},
	{"EACCES to root in a container without the capability: still the sysctl",
	 EACCES,
	 {CYCLES},
	 {USER, .root = true, .container = true},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "perf_event_paranoid is 2",
	 "perf_event_paranoid=1"},

	{"EPERM in a container with seccomp: the container's filter",
	 EPERM,
	 {CYCLES},
	 {USER, .seccomp = true, .container = true},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "container's seccomp filter",
	 "--cap-add PERFMON"},
	{"EPERM with seccomp alone: the sandbox",
	 EPERM,
	 {CYCLES},
	 {USER, .seccomp = true},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "a seccomp filter",
	 "sandbox"},
	{"EPERM in a container without seccomp: its capability",
	 EPERM,
	 {CYCLES},
	 {USER, .container = true},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "in this container",
	 "--cap-add PERFMON"},
	{"EPERM to a privileged user: the kernel's lockdown",
	 EPERM,
	 {CYCLES},
	 {ROOT},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "locked down",
	 "lockdown"},
	{"EPERM to an ordinary user: as EACCES",
	 EPERM,
	 {CYCLES},
	 {USER},
	 ERROR_PERMISSION,
	 READING_DENIED,
	 "perf_event_paranoid is 2",
	 "perf_event_paranoid=1"},
	{"EPERM of a mapping: the limit of locked memory",
	 EPERM,
	 {CYCLES, .action = COUNTER_MMAP},
	 {USER},
	 ERROR_LIMIT,
	 READING_FAILED,
	 "perf_event_mlock_kb (516)",
	 "perf_event_mlock_kb"},
	{"EPERM of a mapping where the sysctl cannot be read",
	 EPERM,
	 {CYCLES, .action = COUNTER_MMAP},
	 {MACHINE(2, "cpu"), .mlock_kilobytes = -1},
	 ERROR_LIMIT,
	 READING_FAILED,
	 "perf_event_mlock_kb",
	 "ulimit -l"},

	{"ENOENT, a guest without a PMU: the hypervisor",
	 ENOENT,
	 {CYCLES},
	 {NO_PMU, .hypervisor = "KVM"},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "the hypervisor (KVM)",
	 "pmu=on"},
	{"ENOENT, no guest and no PMU: the driver",
	 ENOENT,
	 {CYCLES},
	 {NO_PMU},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "no hardware counters that the kernel knows",
	 "dmesg"},
	{"ENOENT with a PMU: this event of it",
	 ENOENT,
	 {CYCLES},
	 {MACHINE(2, "armv8_pmuv3")},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "the PMU 'armv8_pmuv3' of this CPU cannot count it",
	 "tare list events"},
	{"ENOENT of a software event: the kernel",
	 ENOENT,
	 {.event = "cgroup-switches", .levels = BOTH, .type = PERF_TYPE_SOFTWARE, .cpu = -1},
	 {NO_PMU},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "this kernel has no such event",
	 NULL},
	{"ENOENT of a tracepoint",
	 ENOENT,
	 {.event = "x", .levels = BOTH, .type = PERF_TYPE_TRACEPOINT, .cpu = -1},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "no such tracepoint",
	 NULL},
	{"EOPNOTSUPP without a PMU: there is none",
	 EOPNOTSUPP,
	 {CYCLES},
	 {NO_PMU, .hypervisor = "Xen"},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "no hardware counters: the hypervisor (Xen)",
	 "pmu=on"},
	{"EOPNOTSUPP with a PMU: its driver",
	 EOPNOTSUPP,
	 {CYCLES},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "driver of its PMU does not offer it",
	 "tare doctor"},

	{"EINVAL for one level of a PMU without levels",
	 EINVAL,
	 {.event = "msr/tsc/:u", .levels = LEVEL_USER, .type = DYNAMIC, .cpu = -1},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "does not tell user level from kernel level",
	 "without ':u'"},
	{"EINVAL of a PMU of CPUs for a program",
	 EINVAL,
	 {.event = "imc/read/", .levels = BOTH, .type = DYNAMIC, .cpu = -1},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "only whole CPUs",
	 "-a"},
	{"EINVAL for threads without children: an old kernel",
	 EINVAL,
	 {CYCLES, .threads_only = true},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "Linux 5.13",
	 "--no-children"},
	{"EINVAL of a raw code",
	 EINVAL,
	 {.event = "rffff", .levels = BOTH, .type = PERF_TYPE_RAW, .cpu = -1},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "does not accept this code",
	 NULL},

	{"EBUSY while the watchdog runs: the watchdog",
	 EBUSY,
	 {CYCLES},
	 {USER, .watchdog = true},
	 ERROR_BUSY,
	 READING_FAILED,
	 "NMI watchdog",
	 "nmi_watchdog=0"},
	{"EBUSY without it: something else",
	 EBUSY,
	 {CYCLES},
	 {USER},
	 ERROR_BUSY,
	 READING_FAILED,
	 "something else",
	 "another profiler"},
	{"EMFILE: how many are needed, how many are allowed",
	 EMFILE,
	 {CYCLES, .counters = 5000},
	 {USER},
	 ERROR_LIMIT,
	 READING_FAILED,
	 "5000 counters are needed at once, and 1024",
	 "ulimit -Hn 5064"},
	{"ENFILE: the system's limit, not the user's",
	 ENFILE,
	 {CYCLES},
	 {USER},
	 ERROR_LIMIT,
	 READING_FAILED,
	 "whole system",
	 "fs.file-max"},
	{"ENOMEM", ENOMEM, {CYCLES}, {USER}, ERROR_NO_MEMORY, READING_FAILED, "no memory", "fewer events"},
	{"ENOSPC: debug registers",
	 ENOSPC,
	 {.event = "mem", .levels = BOTH, .type = PERF_TYPE_BREAKPOINT, .cpu = -1},
	 {USER},
	 ERROR_BUSY,
	 READING_FAILED,
	 "debug registers",
	 "debugger"},
	{"ENOSYS: the kernel's configuration",
	 ENOSYS,
	 {CYCLES},
	 {.mlock_kilobytes = -1},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "CONFIG_PERF_EVENTS",
	 "kernel"},
	{"ENOSYS in a container: its filter",
	 ENOSYS,
	 {CYCLES},
	 {.container = true},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "does not exist in this container",
	 "seccomp profile"},
	{"ESRCH of a thread",
	 ESRCH,
	 {OF_TASK},
	 {USER},
	 ERROR_NOT_FOUND,
	 READING_FAILED,
	 "has ended, or was never there",
	 NULL},
	{"ESRCH of the program",
	 ESRCH,
	 {CYCLES},
	 {USER},
	 ERROR_NOT_FOUND,
	 READING_FAILED,
	 "the program has ended",
	 NULL},
	{"ENODEV names the CPU",
	 ENODEV,
	 {ON_CPU},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "CPU 3 does not exist",
	 "cpu/online"},
	{"ENODEV of a program",
	 ENODEV,
	 {CYCLES},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "the device",
	 NULL},
	{"E2BIG: an old kernel",
	 E2BIG,
	 {CYCLES},
	 {USER},
	 ERROR_UNSUPPORTED,
	 READING_UNSUPPORTED,
	 "older",
	 "newer"},
	{"EINTR: another tracer", EINTR, {CYCLES}, {USER}, ERROR_BUSY, READING_FAILED, "another tracer", "again"},
	{"an errno that is not in the manual is shown as it is",
	 EXDEV,
	 {CYCLES},
	 {USER},
	 ERROR_SYSTEM,
	 READING_FAILED,
	 "(errno 18)",
	 NULL},
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct failure f = failure_of(cases[i].os_errno, &cases[i].attempt, &cases[i].machine);
		bool holds = f.code == cases[i].code && failure_state(f.code) == cases[i].state &&
			     strstr(f.why, cases[i].why) &&
			     (cases[i].step ? strstr(f.step, cases[i].step) != NULL : !f.step[0]);
		if (!holds)
			printf("# code %d why '%s' step '%s'\n", (int)f.code, f.why, f.step);
		ok(holds, "%s", cases[i].fact);
	}
}

/* Two failures with one text would leave the user guessing. Pairs that say the same on purpose are named. */
static void test_distinct(void)
{
	size_t same = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct failure a = failure_of(cases[i].os_errno, &cases[i].attempt, &cases[i].machine);
		for (size_t j = i + 1; j < sizeof cases / sizeof *cases; j++) {
			struct failure b = failure_of(cases[j].os_errno, &cases[j].attempt, &cases[j].machine);
			bool permission = a.code == ERROR_PERMISSION && b.code == ERROR_PERMISSION;
			if (cases[i].os_errno == cases[j].os_errno || permission || strcmp(a.why, b.why) != 0)
				continue;
			printf("# '%s' for errno %d and %d\n", a.why, cases[i].os_errno, cases[j].os_errno);
			same++;
		}
	}
	equal_u64(same, 0, "no two errnos but those of permission say the same");
}

static void test_texts(void)
{
	struct error err = {0};
	struct machine_state user = {USER}, guest = {NO_PMU, .hypervisor = "KVM"};
	struct attempt on_cpu = {ON_CPU}, of_task = {OF_TASK}, cycles = {CYCLES};
	struct attempt map = {CYCLES, .action = COUNTER_MMAP}, read_it = {CYCLES, .action = COUNTER_READ};
	ok(!failure_explain(EACCES, &on_cpu, &user, &err), "explaining is always false");
	equal_text(err.text,
		   "cannot open counter 'cycles:u' on CPU 3: not allowed: kernel.perf_event_paranoid is 2, and "
		   "counting whole "
		   "CPUs takes 0 or less",
		   "the text says what, on what, and why");
	equal_text(err.hint, "as root: sysctl kernel.perf_event_paranoid=0", "the hint says what to do");
	ok(err.os_errno == EACCES, "the errno is kept");
	failure_explain(ESRCH, &of_task, &user, &err);
	equal_text(err.text, "cannot open counter 'cycles:u' of thread 77: it has ended, or was never there",
		   "a thread is named");
	equal_text(err.hint, "", "where nothing can be done, nothing is advised");
	failure_explain(ENOENT, &cycles, &guest, &err);
	ok(strncmp(err.text, "cannot open counter 'cycles': this machine has no hardware", 58) == 0,
	   "tare's own program needs no name");
	failure_explain(EPERM, &map, &user, &err);
	ok(strncmp(err.text, "cannot map counter", 18) == 0, "mapping is told from opening");
	failure_explain(EINTR, &read_it, &user, &err);
	ok(strncmp(err.text, "cannot read counter", 19) == 0, "reading is told from opening");
	ok(!failure_explain(EACCES, &cycles, &user, NULL), "nobody has to listen");

	char name[600];
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	name[3] = '\033';
	cycles.event = name;
	failure_explain(EMFILE, &cycles, &user, &err);
	ok(strlen(err.text) < sizeof err.text && !strchr(err.text, '\033') && strstr(err.text, "open files"),
	   "a name of 600 bytes with control characters leaves room for the reason");
}

int main(void)
{
	test_cases();
	test_distinct();
	test_texts();
	return done();
}

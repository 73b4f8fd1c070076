#include "backend/perf/trial/special.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/perf/counter/pmu.h"

static struct probe judge(struct trial trial)
{
	return (struct probe){.outcome = trial.outcome == TRIAL_WORKS ? PROBE_WORKS : PROBE_FAILED,
			      .count = trial.count,
			      .trial = trial};
}

/* ---- tracepoints ---- */

/* More than one, as in stimulus.c. */
static bool run_sleep(uint64_t *least)
{
	enum { SLEEPS = 4 };
	struct timespec shortest = {.tv_nsec = 1};
	for (int i = 0; i < SLEEPS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
	*least = 1;
	return true;
}

static bool kernel_has_tracefs(void)
{
	char line[128];
	bool has = false;
	FILE *file = fopen("/proc/filesystems", "re");
	while (file && !has && fgets(line, sizeof line, file))
		has = strcmp(line, "nodev\ttracefs\n") == 0;
	if (file)
		fclose(file);
	return has;
}

struct probe probe_tracepoint(void)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	static const struct stimulus sleeping = {"4 sleeps", run_sleep};
	bool hidden = false;
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		char path[128];
		unsigned long long id = 0;
		snprintf(path, sizeof path, "%s/events/sched/sched_switch/id", roots[i]);
		FILE *file = fopen(path, "re");
		if (!file) {
			hidden = hidden || errno == EACCES;
			continue;
		}
		bool got = fscanf(file, "%llu", &id) == 1;
		fclose(file);
		if (!got)
			continue;
		struct event_encoding encoding = {.type = PERF_TYPE_TRACEPOINT, .config = id, .scale = 1};
		return judge(trial_run_one(&encoding, LEVEL_USER | LEVEL_KERNEL, COUNTER_ANY_CPU, &sleeping));
	}
	return (struct probe){.outcome = hidden                 ? PROBE_HIDDEN
					 : kernel_has_tracefs() ? PROBE_NOT_MOUNTED
								: PROBE_ABSENT};
}

/* ---- uprobes ---- */

/* The function that is probed; inlined, it would have no place of its own. */
__attribute__((noinline)) static void probed(void) { __asm__ volatile("nop\n\tnop" : : : "memory"); }

static bool run_probed(uint64_t *least)
{
	for (unsigned i = 0; i < PROBE_CALLS; i++)
		probed();
	*least = PROBE_CALLS;
	return true;
}

/* The file that a code address comes from, and the offset in it. */
static bool file_of(uintptr_t address, char *path, size_t size, uint64_t *offset)
{
	char line[512];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof line, maps)) {
		unsigned long long begin, end, start;
		int at = 0;
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &begin, &end, &start, &at) != 3 || at == 0 ||
		    address < begin || address >= end)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (line[at] != '/' || strlen(line + at) >= size)
			break;
		strcpy(path, line + at);
		*offset = address - begin + start;
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* The number of a PMU by its name. */
static bool type_of(const char *sysfs_root, const char *name, uint32_t *type)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s/type", sysfs_root, name);
	FILE *file = fopen(path, "re");
	bool got = file && fscanf(file, "%u", type) == 1;
	if (file)
		fclose(file);
	return got;
}

struct probe probe_uprobe(const char *sysfs_root)
{
	static const struct stimulus calling = {"calls of a function", run_probed};
	char path[512];
	struct event_encoding encoding = {.scale = 1};
	if (!type_of(sysfs_root, "uprobe", &encoding.type))
		return (struct probe){.outcome = PROBE_ABSENT};
	if (!file_of((uintptr_t)probed, path, sizeof path, &encoding.config2))
		return (struct probe){.outcome = PROBE_FAILED,
				      .trial = {.outcome = TRIAL_REFUSED, .os_errno = ENOENT}};
	encoding.config1 = (uint64_t)(uintptr_t)path; /* uprobe_path and probe_offset of perf_event_attr */
	return judge(trial_run_one(&encoding, LEVEL_USER | LEVEL_KERNEL, COUNTER_ANY_CPU, &calling));
}

/* ---- the time stamp counter ---- */

struct probe probe_tsc(const char *sysfs_root)
{
	struct event_encoding encoding = {.scale = 1};
	struct event none = {0};
	if (!type_of(sysfs_root, "msr", &encoding.type))
		return (struct probe){.outcome = PROBE_ABSENT};
	unsigned levels = LEVEL_USER | LEVEL_KERNEL;
	return judge(
		trial_run_one(&encoding, levels, COUNTER_ANY_CPU, stimulus_find(&none, &encoding, "msr", levels)));
}

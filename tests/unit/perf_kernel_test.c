/* The perf backend over a kernel that is written here: what it asks perf_event_open(2) for, and what it makes of the times and counts that
 * hardware counters give, on machines that few have. The linker puts these functions in the place of the kernel's (meson.build). */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/perf.h"
#include "backend/perf/state.h"
#include "tap.h"

/* ---- the kernel ---- */

enum { OPEN_MOST = 64, BIG = 4, LITTLE = 10, PMU_SHIFT = 32 };

static struct {
	int fd;
	struct perf_event_attr attr;
} opened[OPEN_MOST];
static size_t n_opened;
static struct counter_values of_big, of_little; /* of the program; tare's own trials count well … */
static struct counter_values of_trial = {1000000000, 1000, 1000};
static size_t registers =
	OPEN_MOST; /* … while no more counters are open than there are registers; others' time is half */

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number != SYS_perf_event_open)
		return __real_syscall(number, a, b, c, d, e, f);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t i = 0;
	while (i < n_opened && opened[i].fd != fd)
		i++;
	if (fd < 0 || i == OPEN_MOST) {
		errno = EMFILE;
		return -1;
	}
	n_opened += i == n_opened;
	opened[i].fd = fd;
	opened[i].attr = *(const struct perf_event_attr *)(uintptr_t)a;
	return fd;
}

static const struct perf_event_attr *attr_of(int fd)
{
	for (size_t i = 0; i < n_opened; i++)
		if (opened[i].fd == fd)
			return &opened[i].attr;
	return NULL;
}

bool __wrap_counter_enable(int fd);
bool __wrap_counter_enable(int fd) { return attr_of(fd) != NULL; }
bool __wrap_counter_disable(int fd);
bool __wrap_counter_disable(int fd) { return attr_of(fd) != NULL; }

bool __wrap_counter_read(int fd, struct counter_values *out);
bool __wrap_counter_read(int fd, struct counter_values *out)
{
	const struct perf_event_attr *attr = attr_of(fd);
	if (!attr)
		return false;
	if (!attr->enable_on_exec) {
		size_t open = 0;
		for (size_t i = 0; i < n_opened; i++)
			open += fcntl(opened[i].fd, F_GETFD) >= 0;
		*out = of_trial;
		out->running_ns /= open > registers ? 2 : 1;
		return true;
	}
	*out = attr->config >> PMU_SHIFT == LITTLE ? of_little : of_big;
	return true;
}

/* ---- machines and counting ---- */

static char sysfs[] = "/tmp/tare-kernel-XXXXXX";

static void put(const char *pmu, const char *file, const char *line)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", sysfs, pmu);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%s", sysfs, pmu, file);
	FILE *out = fopen(path, "w");
	if (!out || fprintf(out, "%s\n", line) < 0 || fclose(out) != 0)
		printf("Bail out! %s\n", path), exit(1);
}

static void remove_pmus(void)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", sysfs);
	if (system(command) != 0)
		printf("# %s\n", command);
}

static char why[600];

/* The event of `true`, under this kernel. */
static struct reading count(const char *request, bool two_kinds)
{
	static char none[] = "/nowhere";
	char *const argv[] = {"true", NULL};
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	struct event_table *table = event_table_new(NULL);
	struct event event;
	const struct event *const events[] = {&event};
	struct backend *backend;
	struct counting *counting = NULL;
	struct run run = {0};
	struct reading reading = {.state = READING_FAILED};
	struct error err = {0};
	int status;
	n_opened = 0;
	if (!event_parse(table, request, &event, &err) || !perf_backend.open(NULL, &backend, &err))
		printf("Bail out! %s\n", err.text), exit(1);
	backend->machine.sysfs_root = two_kinds ? sysfs : none;
	if (perf_backend.prepare(backend, &target, events, 1, &counting, &err) &&
	    perf_backend.go(counting, &err)) {
		waitpid(perf_backend.process(counting), &status, 0);
		if (perf_backend.stop(counting, &run, &err))
			reading = run.readings[0];
	}
	snprintf(why, sizeof why, "%s", reading.why ? reading.why : err.text);
	reading.why = NULL;
	if (counting)
		perf_backend.end(counting);
	perf_backend.close(backend);
	event_table_free(table);
	run_free(&run);
	return reading;
}

/* What the newest counter of the program was asked to leave out: u, k, or both. */
static const char *left_out(void)
{
	static char text[3];
	const struct perf_event_attr *attr = NULL;
	for (size_t i = 0; i < n_opened; i++)
		if (opened[i].attr.enable_on_exec)
			attr = &opened[i].attr;
	snprintf(text, sizeof text, "%s%s", attr && attr->exclude_user ? "u" : "",
		 attr && attr->exclude_kernel ? "k" : "");
	return attr ? text : "no counter was opened";
}

/* ---- facts ---- */

static void levels(void)
{
	of_big = (struct counter_values){7, 100, 100};
	ok(count("instructions", false).count_raw == 7, "a counter's count is the reading");
	equal_text(left_out(), "", "at both levels the kernel is asked to leave out none");
	count("instructions:u", false);
	equal_text(left_out(), "k", "at user level, the kernel's part");
	count("instructions:k", false);
	equal_text(left_out(), "u", "at kernel level, the user's part");
}

static void kinds_of_cores(void)
{
	of_big = (struct counter_values){1000, 100, 30};
	of_little = (struct counter_values){500, 100, 70};
	struct reading r = count("instructions:u", true);
	ok(r.state == READING_COUNTED && r.count_raw == 1500,
	   "a program that ran on two kinds of cores has the counts of both: %s", why);
	ok(r.enabled_ns == 100 && r.running_ns == 100, "… which together counted all the time");
	of_little = (struct counter_values){0, 100, 0};
	of_big = (struct counter_values){1000, 100, 100};
	r = count("instructions:u", true);
	ok(r.state == READING_COUNTED && r.count_raw == 1000 && r.running_ns == 100,
	   "one that ran on one kind has that one's: %s", why);
	of_little = (struct counter_values){50, 60, 60};
	of_big = (struct counter_values){1000, 100, 41};
	r = count("instructions:u", true);
	ok(r.state == READING_COUNTED && r.enabled_ns == 101 && r.running_ns == 101,
	   "a counter does not count for longer than it is enabled");
}

static void never_ran(void)
{
	of_big = (struct counter_values){0, 100, 0};
	ok(count("instructions:u", false).state == READING_NEVER_RAN && strstr(why, "never got a counter"),
	   "a counter that never ran did not count 0: %s", why);
	of_big = (struct counter_values){0, 0, 0};
	ok(count("instructions:u", false).state == READING_FAILED && strstr(why, "never executed"),
	   "one that was never enabled did not, either: %s", why);
	of_big = (struct counter_values){0, 100, 100};
	struct reading r = count("instructions:u", false);
	ok(r.state == READING_COUNTED && r.count_raw == 0,
	   "one that ran all the time and counted nothing counted 0");
}

static void fits(void)
{
	struct event_table *table = event_table_new(NULL);
	struct event *events = NULL;
	const struct event *pointers[3];
	struct backend *backend;
	size_t n = 0;
	n_opened = 0;
	if (!event_parse_list(table, "instructions:u,branches:u,cycles:u", &events, &n, NULL) || n != 3 ||
	    !perf_backend.open(NULL, &backend, NULL))
		printf("Bail out! no events\n"), exit(1);
	for (size_t i = 0; i < n; i++)
		pointers[i] = &events[i];
	registers = 2;
	ok(perf_backend.fits(backend, pointers, 2), "two events fit two registers, where both count all the time");
	ok(!perf_backend.fits(backend, pointers, 3), "three do not: each has half of it");
	registers = OPEN_MOST;
	ok(perf_backend.fits(backend, pointers, 3), "… and do where there are more");
	perf_backend.close(backend);
	free(events);
	event_table_free(table);
}

int main(void)
{
	if (!mkdtemp(sysfs)) {
		printf("Bail out! no folder\n");
		return 1;
	}
	put("cpu_core", "type", "4"), put("cpu_core", "cpus", "0-7");
	put("cpu_atom", "type", "10"), put("cpu_atom", "cpus", "8-15");
	levels();
	kinds_of_cores();
	never_ran();
	fits();
	remove_pmus();
	return done();
}

/* Programs whose work is known, and counting them with the perf backend. A test that includes this executes itself
 * in the roles of play(); see perf_main(). */
#ifndef TARE_TESTS_PERF_PROGRAM_H
#define TARE_TESTS_PERF_PROGRAM_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/perf/perf.h"
#include "backend/perf/trial/stimulus.h"
#include "tap.h"

#define HELPER __attribute__((unused)) static
#define ME "/proc/self/exe"

static const struct backend_operations *const perf = &perf_backend;
static struct event_table *table;
static struct backend *backend;

/* ---- work of known size ---- */

/* Each page is touched for the first time: a fault each. */
HELPER void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, pages * page + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0);
	if (memory == MAP_FAILED)
		_exit(99);
	madvise((void *)memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap((void *)memory, pages * page + 1);
}

HELPER void *touch_in_thread(void *pages)
{
	touch(*(size_t *)pages);
	return NULL;
}

HELPER void touch_threaded(size_t pages)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, touch_in_thread, &pages) != 0)
		_exit(98);
	pthread_join(thread, NULL);
}

HELPER void touch_forked(size_t pages)
{
	pid_t child = fork();
	if (child == 0) {
		touch(pages);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

HELPER void sleep_often(size_t times)
{
	struct timespec ms = {.tv_nsec = 100000};
	while (times--)
		nanosleep(&ms, NULL);
}

HELPER void burn(uint64_t milliseconds)
{
	struct timespec now;
	do {
		stimulus_loop(10000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 < milliseconds);
}

HELPER int play(char **argv)
{
	size_t n = argv[2] ? strtoul(argv[2], NULL, 10) : 0;
	if (strcmp(argv[1], "touch") == 0) {
		touch(n);
	} else if (strcmp(argv[1], "fork") == 0) {
		touch_forked(n);
	} else if (strcmp(argv[1], "thread") == 0) {
		touch_threaded(n);
	} else if (strcmp(argv[1], "sleep") == 0) {
		sleep_often(n);
	} else if (strcmp(argv[1], "burn") == 0) {
		burn(n);
	} else if (strcmp(argv[1], "files") == 0) {
		struct rlimit files;
		getrlimit(RLIMIT_NOFILE, &files);
		return (int)files.rlim_cur;
	}
	return 0;
}

/* ---- counting it ---- */

HELPER const struct event *event(const char *request)
{
	static struct event events[64];
	static size_t n;
	struct error err = {0};
	struct event *e = &events[n++ % 64];
	if (!event_parse(table, request, e, &err))
		printf("# %s: %s\n", request, err.text);
	return e;
}

HELPER bool works(const char *request, struct availability *out)
{
	perf->available(backend, event(request), out);
	return out->state == READING_COUNTED;
}

/* The reason why a test cannot be done; NULL when it can. */
HELPER const char *lacking(const char *request)
{
	static struct availability answer;
	return works(request, &answer) ? NULL : answer.why;
}

HELPER struct command command_of(const char *role, const char *argument)
{
	static char *argv[4];
	static char words[2][32];
	static char me[] = ME;
	snprintf(words[0], sizeof words[0], "%s", role);
	snprintf(words[1], sizeof words[1], "%s", argument);
	argv[0] = me;
	argv[1] = words[0];
	argv[2] = words[1];
	return (struct command){.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
}

/* Counts one event of this program in a role; the reading's state is COUNTED, or the test's message says why not.
 */
HELPER struct reading count(const char *request, const char *role, const char *argument, bool follow,
			    struct rusage *usage, struct run *run)
{
	const struct event *events[] = {event(request)};
	struct command command = command_of(role, argument);
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = follow};
	struct reading reading = {.state = READING_FAILED};
	struct counting *counting;
	struct error err = {0};
	struct run own = {0};
	struct rusage unused;
	if (!perf->prepare(backend, &target, events, 1, &counting, &err) || !perf->go(counting, &err)) {
		printf("# %s %s: %s\n", role, argument, err.text);
		if (counting)
			perf->end(counting);
		return reading;
	}
	wait4(perf->process(counting), &own.wait_status, 0, usage ? usage : &unused);
	if (!perf->stop(counting, &own, &err) || own.readings[0].state != READING_COUNTED)
		printf("# %s %s: %s\n", role, argument, own.readings ? own.readings[0].why : err.text);
	reading = own.readings[0];
	perf->end(counting);
	reading.why = NULL;
	if (run)
		*run = own;
	run_free(&own);
	return reading;
}

HELPER uint64_t faults(const char *role, const char *argument, bool follow)
{
	return count("page-faults:u", role, argument, follow, NULL, NULL).count_raw;
}

/* Equal to the last fault; but a program built with a sanitizer has faults of its own in the sanitizer's tables,
 * as many as it pleases, so that only the size is compared there. */
HELPER bool exactly(uint64_t is, uint64_t expected, const char *fact)
{
#if defined(SANITIZED)
	double most = 1.5 * (double)expected + 100;
	return ok((double)is >= 0.5 * (double)expected - 50 && (double)is <= most, "%s (sanitized: %" PRIu64 ")",
		  fact, is);
#else
	return equal_u64(is, expected, fact);
#endif
}

/* Can this user count at all? Asked of the kernel itself, so that a backend that refuses too much is no skip. */
HELPER bool kernel_counts(void)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	uint64_t counted = 0;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	touch(10);
	bool got = read(fd, &counted, sizeof counted) == sizeof counted;
	close(fd);
	return got && counted >= 10;
}

/* What a main() does: plays a role, or opens the backend and runs the tests. */
HELPER int perf_main(int argc, char **argv, void (*tests)(void))
{
	struct error err = {0};
	if (argc > 1)
		return play(argv);
	/* the same addresses in each execution: the same page faults */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		if (personality(ADDR_NO_RANDOMIZE) != -1)
			execv(ME, argv);
		printf("# the addresses are random: page faults may differ by some\n");
	}
	table = event_table_new(&err);
	if (!table || !perf->open(NULL, &backend, &err)) {
		printf("# %s\n", err.text);
		return 1;
	}
	const char *why = lacking("page-faults:u");
	if (!why)
		tests();
	else if (kernel_counts())
		ok(false, "the kernel counts page faults, but the backend does not: %s", why);
	else
		skip(why, "the backend counts");
	perf->close(backend);
	event_table_free(table);
	return done();
}

#endif

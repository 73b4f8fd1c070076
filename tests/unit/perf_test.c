/* The perf backend on events of the kernel's own, which every Linux has: what is counted is compared with
 * arithmetic about programs whose work is known. The test executes itself in the roles of play(). Hardware
 * counters are tested in the guest (tests/vm). */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/perf/cancel.h"
#include "backend/perf/counter.h"
#include "backend/perf/perf.h"
#include "backend/perf/pmu.h"
#include "backend/perf/targets.h"
#include "backend/perf/trial.h"
#include "tap.h"

#define ME "/proc/self/exe"
static const struct backend_operations *const perf = &perf_backend;
static struct event_table *table;
static struct backend *backend;

/* ---- work of known size ---- */

/* Each page is touched for the first time: a fault each. */
static void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory =
	    mmap(NULL, pages * page + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(99);
	madvise((void *)memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap((void *)memory, pages * page + 1);
}

static void *touch_in_thread(void *pages)
{
	touch(*(size_t *)pages);
	return NULL;
}

static void touch_threaded(size_t pages)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, touch_in_thread, &pages) != 0)
		_exit(98);
	pthread_join(thread, NULL);
}

static void touch_forked(size_t pages)
{
	pid_t child = fork();
	if (child == 0) {
		touch(pages);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void sleep_often(size_t times)
{
	struct timespec ms = { .tv_nsec = 100000 };
	while (times--)
		nanosleep(&ms, NULL);
}

static void burn(uint64_t milliseconds)
{
	struct timespec now;
	do {
		stimulus_loop(10000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 < milliseconds);
}

static int play(char **argv)
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

static const struct event *event(const char *request)
{
	static struct event events[64];
	static size_t n;
	struct error err = { 0 };
	struct event *e = &events[n++ % 64];
	if (!event_parse(table, request, e, &err))
		printf("# %s: %s\n", request, err.text);
	return e;
}

static bool works(const char *request, struct availability *out)
{
	perf->available(backend, event(request), out);
	return out->state == READING_COUNTED;
}

/* The reason why a test cannot be done; NULL when it can. */
static const char *lacking(const char *request)
{
	static struct availability answer;
	return works(request, &answer) ? NULL : answer.why;
}

static struct command command_of(const char *role, const char *argument)
{
	static char *argv[4];
	static char words[2][32];
	static char me[] = ME;
	snprintf(words[0], sizeof words[0], "%s", role);
	snprintf(words[1], sizeof words[1], "%s", argument);
	argv[0] = me;
	argv[1] = words[0];
	argv[2] = words[1];
	return (struct command){ .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 };
}

/* Counts one event of this program in a role; the reading's state is COUNTED, or the test's message says why not.
 */
static struct reading count(const char *request, const char *role, const char *argument, bool follow,
			    struct rusage *usage, struct run *run)
{
	const struct event *events[] = { event(request) };
	struct command command = command_of(role, argument);
	struct target target = { .kind = TARGET_COMMAND, .command = &command, .follow_children = follow };
	struct reading reading = { .state = READING_FAILED };
	struct counting *counting;
	struct error err = { 0 };
	struct run own = { 0 };
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

static uint64_t faults(const char *role, const char *argument, bool follow)
{
	return count("page-faults:u", role, argument, follow, NULL, NULL).count_raw;
}

/* Equal to the last fault; but a program built with a sanitizer has faults of its own in the sanitizer's tables,
 * as many as it pleases, so that only the size is compared there. */
static bool exactly(uint64_t is, uint64_t expected, const char *fact)
{
#if defined(__SANITIZE_ADDRESS__)
	double most = 1.5 * (double)expected + 100;
	return ok((double)is >= 0.5 * (double)expected - 50 && (double)is <= most, "%s (sanitized: %" PRIu64 ")",
		  fact, is);
#else
	return equal_u64(is, expected, fact);
#endif
}

/* ---- availability ---- */

static void test_available(void)
{
	struct availability answer;
	ok(works("page-faults:u", &answer) && answer.source == SOURCE_OS,
	   "page faults are counted by the operating system");
	ok(works("task-clock", &answer),
	   "the task clock works for every user: the kernel takes no notice of its levels");
	ok(!works("task-clock:u", &answer) && answer.state == READING_UNSUPPORTED && answer.why[0] &&
	       answer.remedy[0],
	   "task-clock:u is refused, with a reason and a way out");
	ok(!works("context-switches:u", &answer) && answer.state == READING_UNSUPPORTED,
	   "context switches at user level are refused: there are none");
	if (!works("instructions:u", &answer))
		ok(answer.state == READING_UNSUPPORTED && answer.source == SOURCE_NONE && answer.why[0],
		   "without a PMU instructions are not counted, and why is said: %s", answer.why);
	else
		ok(answer.source == SOURCE_HW, "instructions are counted by the hardware");
	perf->available(backend, event("rffffffff"), &answer);
	ok(answer.state != READING_COUNTED || answer.source == SOURCE_HW, "any raw code gets an answer");
	ok(!works("nosuchpmu/event=1/", &answer) && strstr(answer.why, "nosuchpmu"), "an unknown PMU is named");

	const struct event *both[] = { event("page-faults:u"), event("task-clock") };
	ok(perf->fits(backend, both, 2), "events of the operating system fit together");
	ok(perf->fits(backend, both, 0), "no events fit");
	const struct event *none[] = { event("page-faults:u"), event("task-clock:u") };
	ok(!perf->fits(backend, none, 2), "with one that does not work nothing fits");
}

/* The evidence for refusing task-clock:u. A kernel that honours levels here would make this test fail, and the
 * refusal wrong. */
static void test_clock_ignores_levels(void)
{
	struct event_encoding clock = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.scale = 1 };
	struct counter_request request = { .encoding = &clock, .levels = LEVEL_KERNEL };
	static const char fact[] = "the kernel's task clock counts a user-level loop at level ':k' as well";
	struct counter_values values = { 0 };
	int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
	if (fd < 0) {
		skip("this user may not count the kernel's part", fact);
		return;
	}
	struct timespec begin, end;
	counter_enable(fd);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	stimulus_loop(20000000);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	counter_disable(fd);
	counter_read(fd, &values);
	close(fd);
	double loop_ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
	ok((double)values.count > 0.9 * loop_ns, "%s", fact);
}

/* ---- programs ---- */

static void test_page_faults(void)
{
	uint64_t direct[2] = { faults("touch", "0", true), faults("touch", "1000", true) };
	exactly(direct[1] - direct[0], 1000, "a program that touches 1000 pages more has 1000 page faults more");
	uint64_t forked[2] = { faults("fork", "0", true), faults("fork", "1000", true) };
	exactly(forked[1] - forked[0], 1000,
		"those of a child process that has ended count, when children are followed");
	uint64_t left[2] = { faults("fork", "0", false), faults("fork", "1000", false) };
	exactly(left[1], left[0], "and do not count when children are not followed");
	uint64_t thread[2] = { faults("thread", "0", false), faults("thread", "1000", false) };
	exactly(thread[1] - thread[0], 1000, "a thread is part of the program, children followed or not");

	struct reading r = count("page-faults:u", "touch", "10", true, NULL, NULL);
	ok(r.running_ns == r.enabled_ns && r.enabled_ns > 0,
	   "an event of the operating system counts all the time");
}

static void test_context_switches(void)
{
	static const char fact[] =
	    "a program that sleeps 50 times more has 50 context switches more, or some more";
	const char *why = lacking("context-switches");
	if (why) {
		skip(why, fact);
		return;
	}
	struct rusage usage;
	uint64_t none = count("context-switches", "sleep", "0", true, NULL, NULL).count_raw;
	uint64_t many = count("context-switches", "sleep", "50", true, &usage, NULL).count_raw;
	printf("# %" PRIu64 " and %" PRIu64 ", by the operating system's account %ld\n", none, many,
	       usage.ru_nvcsw + usage.ru_nivcsw);
	/* other processes may take the CPU at any time, which are switches too */
	ok(many >= 50 && many >= none, "%s", fact);
	/* the account begins with the fork, the counter with the exec; the last switch, at the end, is in one of
	 * them */
	ok(many <= (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw) + 1, "they are not more than the account has");
}

static double monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The kernel's two clocks of a process differ: perf's runs while the process is on a CPU, the account's not while
 * the hypervisor has taken that CPU away (steal) nor, in some kernels, in interrupts; and the account begins with
 * the fork, where tare's part takes some 0.1 ms. */
static void test_task_clock(void)
{
	struct rusage usage;
	double begin = monotonic_ns();
	struct reading r = count("task-clock", "burn", "60", true, &usage, NULL);
	double elapsed = monotonic_ns() - begin, clock = (double)r.count_raw;
	double account = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
			 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
	printf("# task-clock %.3f ms, by the account %.3f ms, elapsed %.3f ms\n", clock / 1e6, account / 1e6,
	       elapsed / 1e6);
	ok(clock <= elapsed, "the task clock of one thread is not more than the elapsed time");
	ok(clock >= account - 2e6, "and not less than the account by more than what comes before the exec (2 ms)");
	ok(clock >= 60e6 - 5e6, "60 ms of CPU time, the start included, are at least 55 ms of task clock");
}

static void test_account(void)
{
	struct command command = command_of("touch", "100");
	struct target target = { .kind = TARGET_COMMAND, .command = &command };
	struct counting *counting;
	struct error err = { 0 };
	struct run run = { .minor_faults = 1000000, .user_ns = 1, .system_ns = 5000000000u };
	bool done = perf->prepare(backend, &target, NULL, 0, &counting, &err) && perf->go(counting, &err);
	ok(done && perf->process(counting) > 0, "without events the program is run all the same");
	waitpid(perf->process(counting), NULL, 0);
	ok(perf->stop(counting, &run, &err) && run.n_events == 0 && run.n_rows == 1, "and there are no readings");
	ok(run.minor_faults < 1000000 && run.minor_faults > 999000 && run.user_ns <= 1,
	   "what tare's fork cost is taken out of the account, which stays above zero");
	perf->end(counting);
	run_free(&run);
}

static void test_not_counted(void)
{
	struct availability answer;
	const struct event *events[] = { event("page-faults:u"), event("task-clock:u"), event("nosuchpmu/x/") };
	struct command command = command_of("touch", "100");
	struct target target = { .kind = TARGET_COMMAND, .command = &command };
	struct counting *counting;
	struct error err = { 0 };
	struct run run = { 0 };
	works("task-clock:u", &answer);
	bool done = perf->prepare(backend, &target, events, 3, &counting, &err) && perf->go(counting, &err);
	ok(done, "one event that works is enough");
	waitpid(perf->process(counting), NULL, 0);
	struct reading sampled[3];
	ok(perf->sample(counting, sampled, &err) && sampled[0].count_raw >= 100,
	   "counters can be read after the end");
	ok(perf->stop(counting, &run, &err) && run.n_events == 3, "every event has a reading");
	ok(run.readings[0].state == READING_COUNTED && run.readings[0].count_raw == sampled[0].count_raw,
	   "the last reading is what a sample after the end read");
	ok(run.readings[1].state == READING_UNSUPPORTED && strcmp(run.readings[1].why, answer.why) == 0 &&
	       run.readings[1].source == SOURCE_NONE && run.readings[1].count_raw == 0,
	   "one that does not work has the reason that available() gave");
	ok(run.readings[2].state == READING_UNSUPPORTED && run.readings[2].why, "so has an unknown one");
	perf->end(counting);
	run_free(&run);
}

static void test_sampling(void)
{
	const struct event *events[] = { event("task-clock") };
	struct command command = command_of("burn", "40");
	struct target target = { .kind = TARGET_COMMAND, .command = &command };
	struct counting *counting;
	struct error err = { 0 };
	struct run run = { 0 };
	uint64_t last = 0, samples = 0;
	bool grows = true, runs = true;
	if (!perf->prepare(backend, &target, events, 1, &counting, &err) || !perf->go(counting, &err)) {
		ok(false, "sampling: %s", err.text);
		return;
	}
	while (waitpid(perf->process(counting), NULL, WNOHANG) == 0) {
		struct reading r;
		perf->sample(counting, &r, &err);
		grows &= r.count_raw >= last;
		runs &= r.running_ns == r.enabled_ns;
		last = r.count_raw;
		samples++;
		sleep_often(1);
	}
	perf->stop(counting, &run, &err);
	ok(samples > 0 && grows && runs && run.readings[0].count_raw >= last && last > 0,
	   "readings on the way only grow, up to the last one");
	perf->end(counting);
	run_free(&run);
}

static void test_no_program(void)
{
	static char missing[] = "tare-no-such-program", script[64];
	const struct event *events[] = { event("page-faults:u") };
	struct command command = {
		.argv = (char *[]){ missing, NULL }, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1
	};
	struct target target = { .kind = TARGET_COMMAND, .command = &command };
	struct counting *counting = (void *)1;
	struct error err = { 0 };
	ok(!perf->prepare(backend, &target, events, 1, &counting, &err) && !counting &&
	       err.code == ERROR_NOT_FOUND,
	   "a program that is not there is an error of prepare");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "and leaves no process");

	snprintf(script, sizeof script, "/tmp/tare-perf-%d", (int)getpid());
	FILE *file = fopen(script, "w");
	fputs("not a program\n", file);
	fclose(file);
	chmod(script, 0700);
	command.argv = (char *[]){ script, NULL };
	bool prepared = perf->prepare(backend, &target, events, 1, &counting, &err);
	ok(prepared && !perf->go(counting, &err) && err.os_errno == ENOEXEC && perf->process(counting) == 0,
	   "one that turns out not to be one is an error of go");
	perf->end(counting);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "and leaves no process either");
	unlink(script);

	command = command_of("touch", "1");
	prepared = perf->prepare(backend, &target, events, 1, &counting, &err);
	perf->end(counting);
	ok(prepared && waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	   "a counting that ends before go leaves none");
}

/* ---- running processes ---- */

/* A child that does on request what it is told, and says when it is done. */
struct worker {
	pid_t pid;
	int order, done;
	pid_t tids[2]; /* of its threads, which do the orders 't' and 'u' */
};

struct order {
	char what; /* 'p': here, 't', 'u': in one of the threads, 'n': in a new thread, 'f': in a fork, 'q': end */
	size_t pages;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct order order;
	pid_t tids[2];
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *work_in_thread(void *name)
{
	char mine = *(char *)name;
	pthread_mutex_lock(&shared.lock);
	shared.tids[mine - 't'] = (pid_t)gettid();
	pthread_cond_broadcast(&shared.changed);
	for (;;) {
		while (shared.order.what != mine)
			pthread_cond_wait(&shared.changed, &shared.lock);
		touch(shared.order.pages);
		shared.order.what = 0;
		pthread_cond_broadcast(&shared.changed);
	}
	return NULL;
}

static void obey(struct order order)
{
	switch (order.what) {
	case 'p': touch(order.pages); return;
	case 'n': touch_threaded(order.pages); return;
	case 'f': touch_forked(order.pages); return;
	default: break;
	}
	pthread_mutex_lock(&shared.lock);
	shared.order = order;
	pthread_cond_broadcast(&shared.changed);
	while (shared.order.what)
		pthread_cond_wait(&shared.changed, &shared.lock);
	pthread_mutex_unlock(&shared.lock);
}

_Noreturn static void be_worker(int orders, int done)
{
	static char names[] = "tu";
	struct order order;
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, work_in_thread, &names[i]);
		pthread_mutex_lock(&shared.lock);
		while (!shared.tids[i])
			pthread_cond_wait(&shared.changed, &shared.lock);
		pthread_mutex_unlock(&shared.lock);
	}
	/* once through everything, so that code and stacks are touched before the counting */
	for (const char *what = "ptunftu"; *what; what++)
		obey((struct order){ *what, 1 });
	if (write(done, shared.tids, sizeof shared.tids) < 0)
		_exit(1);
	while (read(orders, &order, sizeof order) == sizeof order && order.what != 'q') {
		obey(order);
		if (write(done, "d", 1) != 1)
			break;
	}
	_exit(0);
}

static struct worker hire(void)
{
	struct worker worker = { 0 };
	int orders[2], done[2];
	if (pipe(orders) != 0 || pipe(done) != 0)
		return worker;
	fflush(stdout);
	worker.pid = fork();
	if (worker.pid == 0) {
		close(orders[1]);
		close(done[0]);
		be_worker(orders[0], done[1]);
	}
	close(orders[0]);
	close(done[1]);
	worker.order = orders[1];
	worker.done = done[0];
	if (read(worker.done, worker.tids, sizeof worker.tids) != sizeof worker.tids)
		printf("# the worker did not begin\n");
	return worker;
}

static void tell(struct worker *worker, char what, size_t pages)
{
	struct order order = { what, pages };
	char byte;
	if (write(worker->order, &order, sizeof order) != sizeof order ||
	    (what != 'q' && read(worker->done, &byte, 1) != 1))
		printf("# the worker does not answer\n");
}

static void dismiss(struct worker *worker)
{
	tell(worker, 'q', 0);
	close(worker->order);
	close(worker->done);
	waitpid(worker->pid, NULL, 0);
}

/* Counts page faults of a target while the worker does its orders ("p100 t30"). False with the reason printed. */
static bool count_worker(const struct target *target, struct worker *worker, const char *orders, struct run *run)
{
	const struct event *events[] = { event("page-faults:u") };
	struct counting *counting;
	struct error err = { 0 };
	*run = (struct run){ 0 };
	/* a fork before has made each page that is written to next fault once more: let that be over */
	for (const char *what = "ptunp"; *what; what++)
		tell(worker, *what, 1);
	bool done = perf->prepare(backend, target, events, 1, &counting, &err) && perf->go(counting, &err);
	while (done && *orders) {
		char *next;
		size_t pages = strtoul(orders + 1, &next, 10);
		tell(worker, *orders, pages);
		orders = *next ? next + 1 : next;
	}
	done = done && perf->stop(counting, run, &err);
	if (!done)
		printf("# %s\n", err.text);
	if (counting)
		perf->end(counting);
	return done;
}

static uint64_t row_of(const struct run *run, pid_t tid)
{
	for (size_t i = 0; i < run->n_rows; i++)
		if (run->readings[i].tid == tid)
			return run->readings[i].count_raw;
	return UINT64_MAX;
}

static void test_processes(void)
{
	struct worker worker = hire();
	pid_t twice[] = { worker.pid, worker.pid }, threads[] = { worker.tids[0], worker.tids[1] };
	struct target target = { .kind = TARGET_PROCESSES, .pids = twice, .n_pids = 1, .follow_children = true };
	struct run run;
	struct reading r;

	count_worker(&target, &worker, "p100", &run);
	exactly(run.readings[0].count_raw, 100,
		"a running process has exactly the faults of what it was told to touch");
	run_free(&run);
	count_worker(&target, &worker, "p100 t30 u7", &run);
	exactly(run.readings[0].count_raw, 137, "all threads that it had count");
	run_free(&run);
	target.n_pids = 2;
	count_worker(&target, &worker, "p100", &run);
	exactly(run.readings[0].count_raw, 100, "a process named twice is counted once");
	run_free(&run);
	target.n_pids = 1;

	/* new threads and children fault for themselves too (stacks, copies of pages), the same at each time */
	uint64_t base[2], more[2];
	for (int follow = 0; follow < 2; follow++) {
		target.follow_children = follow;
		count_worker(&target, &worker, "n0", &run);
		base[follow] = run.readings[0].count_raw;
		run_free(&run);
		count_worker(&target, &worker, "n500", &run);
		more[follow] = run.readings[0].count_raw;
		run_free(&run);
	}
	exactly(more[1] - base[1], 500, "a thread that starts later counts");
	exactly(more[0] - base[0], 500, "also when child processes are not followed");
	for (int follow = 0; follow < 2; follow++) {
		target.follow_children = follow;
		count_worker(&target, &worker, "f0", &run);
		base[follow] = run.readings[0].count_raw;
		run_free(&run);
		count_worker(&target, &worker, "f500", &run);
		more[follow] = run.readings[0].count_raw;
		run_free(&run);
	}
	exactly(more[1] - base[1], 500, "a child process that starts later counts when children are followed");
	exactly(more[0], base[0], "and not when they are not");

	target.per_thread = true;
	count_worker(&target, &worker, "p100 t30 u7", &run);
	equal_u64(run.n_rows, 3, "there is a row for each thread");
	exactly(row_of(&run, worker.pid), 100, "the row of the first thread has its faults");
	exactly(row_of(&run, worker.tids[0]), 30, "and that of the second");
	exactly(row_of(&run, worker.tids[1]), 7, "and that of the third");
	run_free(&run);
	target.per_thread = false;

	struct target some = { .kind = TARGET_THREADS, .pids = threads, .n_pids = 1 };
	count_worker(&some, &worker, "p100 t30 u7", &run);
	exactly(run.readings[0].count_raw, 30, "of a thread nothing but its own counts");
	run_free(&run);
	some.n_pids = 2;
	count_worker(&some, &worker, "p100 t30 u7", &run);
	exactly(run.readings[0].count_raw, 37, "two threads together");
	run_free(&run);

	count_worker(&some, &worker, "", &run);
	r = run.readings[0];
	ok(r.state == READING_COUNTED && r.count_raw == 0 && r.enabled_ns == 0,
	   "threads that slept all the time have counted 0, which is not 'never ran'");
	run_free(&run);
	dismiss(&worker);
}

static void test_ended_processes(void)
{
	struct worker worker = hire();
	struct target target = {
		.kind = TARGET_PROCESSES, .pids = &worker.pid, .n_pids = 1, .follow_children = true
	};
	const struct event *events[] = { event("page-faults:u") };
	struct counting *counting = NULL;
	struct error err = { 0 };
	struct run run = { 0 };
	bool done = perf->prepare(backend, &target, events, 1, &counting, &err) && perf->go(counting, &err);
	tell(&worker, 'p', 100);
	dismiss(&worker);
	done = done && perf->stop(counting, &run, &err);
	/* ending may fault too; what was touched before is the least */
	ok(done && run.readings[0].state == READING_COUNTED && run.readings[0].count_raw >= 100 &&
	       run.readings[0].count_raw < 200,
	   "the count of a process that ends while it is counted stays");
	if (counting)
		perf->end(counting);
	run_free(&run);

	ok(!perf->prepare(backend, &target, events, 1, &counting, &err) && err.code == ERROR_NOT_FOUND &&
	       !counting,
	   "a process that has ended cannot be counted: %s", err.text);
	target.kind = TARGET_THREADS;
	ok(!perf->prepare(backend, &target, events, 1, &counting, &err) && err.code == ERROR_NOT_FOUND,
	   "nor can its thread: %s", err.text);
}

/* ---- CPUs ---- */

static void test_cpus(void)
{
	static const char *const facts[] = { "a row for each CPU",
					     "the faults are in the row of the CPU that had them",
					     "the total is the sum of the rows",
					     "the task clock of whole CPUs is refused: it counts idle time",
					     "a CPU that is not online is an error" };
	int fd = counter_open(
	    &(struct counter_request){ .encoding =
					   &(struct event_encoding){ .type = PERF_TYPE_SOFTWARE, .config = 2 },
				       .levels = LEVEL_USER },
	    COUNTER_ANY_TASK, 0);
	if (fd < 0) {
		for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
			skip("this user may not count whole CPUs", facts[i]);
		return;
	}
	close(fd);
	enum { PAGES = 20000 }; /* far more than the rest of the machine has meanwhile */
	cpu_set_t before, last;
	const struct event *events[] = { event("page-faults:u"), event("task-clock") };
	struct command command = command_of("touch", "20000");
	struct target target = { .kind = TARGET_CPUS, .command = &command, .per_cpu = true };
	struct counting *counting = NULL;
	struct error err = { 0 };
	struct run run = { 0 };
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	sched_getaffinity(0, sizeof before, &before);
	int pinned = CPU_SETSIZE - 1;
	while (pinned > 0 && !CPU_ISSET(pinned, &before))
		pinned--;
	CPU_ZERO(&last);
	CPU_SET(pinned, &last);
	sched_setaffinity(0, sizeof last, &last);
	bool done = perf->prepare(backend, &target, events, 2, &counting, &err) && perf->go(counting, &err);
	if (done)
		waitpid(perf->process(counting), NULL, 0);
	done = done && perf->stop(counting, &run, &err);
	sched_setaffinity(0, sizeof before, &before);
	if (!done)
		printf("# %s\n", err.text);
	equal_u64(run.n_rows, (uint64_t)online, facts[0]);
	uint64_t sum = 0, its = 0;
	for (size_t row = 0; row < run.n_rows; row++) {
		const struct reading *r = &run.readings[row * 2];
		sum += r->count_raw;
		if (r->cpu == pinned)
			its = r->count_raw;
		printf("# CPU %d: %" PRIu64 "\n", r->cpu, r->count_raw);
	}
	ok(its >= PAGES, "%s", facts[1]);
	struct reading sampled[2] = { 0 };
	perf->sample(counting, sampled, &err);
	equal_u64(sampled[0].count_raw, sum, facts[2]);
	ok(run.n_rows && run.readings[1].state == READING_UNSUPPORTED && strstr(run.readings[1].why, "idle"), "%s",
	   facts[3]);
	if (counting)
		perf->end(counting);
	run_free(&run);

	const int nowhere = 4000;
	target.cpus = &nowhere;
	target.n_cpus = 1;
	ok(!perf->prepare(backend, &target, events, 2, &counting, &err) && err.code == ERROR_NOT_FOUND &&
	       err.hint[0],
	   "%s: %s", facts[4], err.text);
}

/* ---- limits and rights: in processes of their own ---- */

/* Runs test() in a child as another user and with other limits; its exit status is what it returns. */
static int in_child(int (*test)(void))
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(test());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

enum { LOW = 40, COUNTERS = 60 };

static bool count_many(int *program_limit, struct error *err)
{
	const struct event *events[COUNTERS];
	struct command command = command_of("files", "0");
	struct target target = { .kind = TARGET_COMMAND, .command = &command };
	struct counting *counting;
	struct run run = { 0 };
	int status = 0;
	for (size_t i = 0; i < COUNTERS; i++)
		events[i] = event("page-faults:u");
	if (!perf->prepare(backend, &target, events, COUNTERS, &counting, err))
		return false;
	bool done = perf->go(counting, err);
	waitpid(perf->process(counting), &status, 0);
	done = done && perf->stop(counting, &run, err);
	for (size_t i = 0; i < COUNTERS; i++)
		done = done && run.readings[i].state == READING_COUNTED && run.readings[i].count_raw > 0;
	perf->end(counting);
	*program_limit = WEXITSTATUS(status);
	return done;
}

static int many_counters(void)
{
	struct rlimit limit, now;
	struct error err = { 0 };
	int program_limit = 0;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = LOW;
	setrlimit(RLIMIT_NOFILE, &limit);
	/* twice: the second program is started after the limit was raised once */
	for (int i = 0; i < 2; i++)
		if (!count_many(&program_limit, &err) || program_limit != LOW)
			return 1;
	getrlimit(RLIMIT_NOFILE, &now);
	return now.rlim_cur == LOW && now.rlim_max == limit.rlim_max ? 0 : 2;
}

static bool become_nobody(void)
{
	return setgid(65534) == 0 && setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

static int too_many_counters(void)
{
	struct rlimit limit = { LOW, LOW };
	struct error err = { 0 };
	int unused;
	if (geteuid() == 0 && !become_nobody())
		return 3;
	setrlimit(RLIMIT_NOFILE, &limit);
	bool failed = !count_many(&unused, &err);
	return failed && err.code == ERROR_LIMIT && strstr(err.text, "60 counters") && err.hint[0] ? 0 : 1;
}

static int paranoid_level(void)
{
	int level = -2;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	if (file && fscanf(file, "%d", &level) != 1)
		level = -2;
	if (file)
		fclose(file);
	return level;
}

static int as_nobody(void)
{
	struct availability answer;
	struct error err = { 0 };
	struct counting *counting;
	const pid_t first = 1;
	const struct event *events[] = { event("page-faults:u") };
	struct target target = { .kind = TARGET_PROCESSES, .pids = &first, .n_pids = 1 };
	struct backend *other;
	if (!become_nobody() || !perf->open(NULL, &other, &err))
		return 3;
	backend = other; /* answers belong to a user */
	perf->available(other, event("page-faults"), &answer);
	if (answer.state != READING_DENIED || !strstr(answer.why, "perf_event_paranoid is 2") || !answer.remedy[0])
		return 4;
	perf->available(other, event("task-clock"), &answer);
	if (answer.state != READING_COUNTED)
		return 5;
	if (perf->prepare(other, &target, events, 1, &counting, &err) || err.code != ERROR_PERMISSION)
		return 6;
	struct target cpus = { .kind = TARGET_CPUS };
	if (perf->prepare(other, &cpus, events, 1, &counting, &err) || err.code != ERROR_PERMISSION ||
	    !strstr(err.hint, "perf_event_paranoid=0"))
		return 7;
	/* it can count its own */
	uint64_t few = faults("touch", "0", true), more = faults("touch", "300", true);
	perf->close(other);
#if defined(__SANITIZE_ADDRESS__)
	return more > few ? 0 : 8;
#endif
	return more - few == 300 ? 0 : 8;
}

static void test_limits(void)
{
	equal_u64(
	    (uint64_t)in_child(many_counters), 0,
	    "more counters than the soft limit of files are opened, and the program has the limit as it was");
	const char *fact = "more than the hard limit are an error that says how many";
	int status = in_child(too_many_counters);
	if (status == 3)
		skip("cannot become another user", fact);
	else
		equal_u64((uint64_t)status, 0, fact);
}

static void test_rights(void)
{
	static const char fact[] = "user 'nobody' counts its own programs at user level, and is told why no more";
	if (geteuid() != 0)
		skip("only root can become another user", fact);
	else if (paranoid_level() != 2)
		skip("kernel.perf_event_paranoid is not 2", fact);
	else
		equal_u64((uint64_t)in_child(as_nobody), 0, fact);
}

/* A copy of this program that belongs to another user and runs as it. */
static char privileged[64];

/* The evidence: what the kernel counts of such a program, asked behind the back of prepare(). */
static int set_user_id(void)
{
	struct event_encoding encoding = { .type = PERF_TYPE_SOFTWARE,
					   .config = PERF_COUNT_SW_PAGE_FAULTS,
					   .scale = 1 };
	struct counter_request request = { .encoding = &encoding, .levels = LEVEL_USER, .begin_at_exec = true };
	struct counter_values values = { 0 };
	int go[2], status;
	char byte;
	if (!become_nobody() || pipe(go) != 0)
		return 3;
	if (!exec_cancels(privileged))
		return 1;
	pid_t child = fork();
	if (child == 0) {
		if (read(go[0], &byte, 1) == 1)
			execl(privileged, privileged, "touch", "1000", (char *)NULL);
		_exit(1);
	}
	int fd = counter_open(&request, child, COUNTER_ANY_CPU);
	if (fd < 0 || write(go[1], "g", 1) != 1)
		return 4;
	waitpid(child, &status, 0);
	if (status != 0 || !counter_read(fd, &values))
		return 5;
	return values.count < 1000 ? 0 : 2; /* of more than 1000 */
}

static void test_cancelled(void)
{
	static const char fact[] = "the kernel stops counting a set-user-ID program, and tare does not count it";
	struct statvfs mount;
	char copy[256];
	snprintf(privileged, sizeof privileged, "/tmp/tare-perf-suid-%d", (int)getpid());
	snprintf(copy, sizeof copy, "cp /proc/%d/exe %s && chmod 4755 %s", (int)getpid(), privileged, privileged);
	ok(!exec_cancels("/bin/sh"), "an ordinary program is counted");
	if (geteuid() != 0)
		skip("only root can make a set-user-ID program", fact);
	else if (statvfs("/tmp", &mount) != 0 || (mount.f_flag & ST_NOSUID) ||
		 prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
		skip("set-user-ID has no effect in /tmp", fact);
	else if (paranoid_level() > 2)
		skip("user 'nobody' may count nothing", fact);
	else if (system(copy) != 0)
		skip("cannot copy this program", fact);
	else
		equal_u64((uint64_t)in_child(set_user_id), 0, fact);
	unlink(privileged);
}

/* ---- diagnosis ---- */

static void test_diagnosis(void)
{
	struct finding findings[32], few[2];
	size_t n = 0, most_two = 0;
	bool complete = true;
	perf->diagnose(backend, findings, 32, &n);
	for (size_t i = 0; i < n; i++)
		complete &= findings[i].what[0] && findings[i].detail[0];
	ok(n >= 8 && n < 32 && complete, "a diagnosis has findings, each with a subject and a text");
	struct availability answer;
	bool hardware = works("instructions:u", &answer);
	ok(strcmp(findings[0].what, "hardware counters") == 0 && (findings[0].state == FINDING_WORKS) == hardware,
	   "hardware counters work by the diagnosis exactly when instructions can be counted");
	perf->diagnose(backend, few, 2, &most_two);
	equal_u64(most_two, 2, "no more findings are written than there is room for");
}

/* ---- small pieces ---- */

static void test_lists(void)
{
	ok(pmu_list_has("0-3,8", 3) && pmu_list_has("0-3,8", 8) && !pmu_list_has("0-3,8", 4) &&
	       !pmu_list_has("", 0),
	   "a list of CPUs holds its ranges");
	ok(pmu_list_first("4-7") == 4 && pmu_list_first("") == 0, "its first is the first");
	struct pmu pmu;
	ok(pmu_find("/sys/bus/event_source/devices", PERF_TYPE_SOFTWARE, &pmu) &&
	       strcmp(pmu.name, "software") == 0,
	   "a PMU is found by its number");
	ok(!pmu_find("/nowhere", PERF_TYPE_SOFTWARE, &pmu), "without a list of PMUs none is found");
}

/* A folder like /sys/bus/event_source/devices with two kinds of cores, as of an x86 with P- and E-cores. */
static void make_pmu(const char *root, const char *name, const char *type, const char *file, const char *list)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", root, name);
	mkdir(path, 0700);
	const char *files[][2] = { { "type", type }, { file, list } };
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", root, name, files[i][0]);
		FILE *out = fopen(path, "w");
		fprintf(out, "%s\n", files[i][1]);
		fclose(out);
	}
}

static void test_kinds_of_cores(void)
{
	char root[] = "/tmp/tare-pmus-XXXXXX", remove[64];
	struct core_kinds kinds = { 0 };
	if (!mkdtemp(root))
		return;
	make_pmu(root, "cpu_atom", "10", "cpus", "8-15");
	make_pmu(root, "cpu_core", "4", "cpus", "0-7");
	make_pmu(root, "uncore", "20", "cpumask", "0");
	kinds.n = pmu_cores(root, kinds.pmus, CORE_KINDS_MOST);
	ok(kinds.n == 2 && strcmp(kinds.pmus[0].name, "cpu_core") == 0 && kinds.pmus[1].type == 10,
	   "core PMUs are those with a list of their CPUs");

	struct event_encoding cycles = { .type = PERF_TYPE_HARDWARE, .config = 0, .scale = 1 };
	struct variants v = variants_of(&cycles, &kinds, root);
	ok(v.n == 2 && v.items[0].encoding.config == 4ull << 32 && v.items[1].encoding.config == 10ull << 32 &&
	       strcmp(v.items[0].cpus, "0-7") == 0 && strcmp(v.items[1].cpus, "8-15") == 0 && !v.some_cores,
	   "a generic event becomes one counter for each kind of core");
	struct event_encoding of_core = { .type = 10, .config = 0x3c, .scale = 1 }, raw = { .type = PERF_TYPE_RAW };
	v = variants_of(&of_core, &kinds, root);
	ok(v.n == 1 && v.some_cores && !v.whole_cpus && strcmp(v.pmu, "cpu_atom") == 0,
	   "an event of one kind's PMU counts on some of the cores");
	v = variants_of(&raw, &kinds, root);
	ok(v.n == 1 && v.some_cores, "so does a raw code, which the kernel gives to one of the PMUs");
	struct event_encoding of_package = { .type = 20, .scale = 1 }, software = { .type = PERF_TYPE_SOFTWARE };
	v = variants_of(&of_package, &kinds, root);
	ok(v.n == 1 && v.whole_cpus && strcmp(v.items[0].cpus, "0") == 0 && !v.some_cores,
	   "a PMU with a cpumask counts packages");
	v = variants_of(&software, &kinds, root);
	ok(v.n == 1 && !v.some_cores && !v.whole_cpus && !v.items[0].cpus[0], "software events are not concerned");
	kinds.n = 1;
	v = variants_of(&cycles, &kinds, root);
	ok(v.n == 1 && v.items[0].encoding.config == 0, "with one kind of cores nothing changes");
	snprintf(remove, sizeof remove, "rm -rf %s", root);
	if (system(remove) != 0)
		printf("# %s is left\n", root);
}

static void test_open(void)
{
	struct backend *other = (void *)1;
	struct error err = { 0 };
	ok(!perf->open("argument", &other, &err) && !other && err.code == ERROR_USAGE,
	   "the backend takes no argument");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return play(argv);
	struct error err = { 0 };
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
	if (why) {
		skip(why, "the backend counts");
		return done();
	}
	test_open();
	test_lists();
	test_kinds_of_cores();
	test_available();
	test_clock_ignores_levels();
	test_page_faults();
	test_context_switches();
	test_task_clock();
	test_account();
	test_not_counted();
	test_sampling();
	test_no_program();
	test_processes();
	test_ended_processes();
	test_cpus();
	test_limits();
	test_rights();
	test_cancelled();
	test_diagnosis();
	perf->close(backend);
	event_table_free(table);
	return done();
}

/* The perf backend on what runs already: processes, threads and CPUs. */
#include <linux/perf_event.h>
#include <sched.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/targets.h"
#include "perf_program.h"

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
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

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
		obey((struct order){*what, 1});
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
	struct worker worker = {0};
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
	struct order order = {what, pages};
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

/* A thread that was joined may still be listed for a moment; the loop ends by the test's time-out if it stays. */
static void await_threads(pid_t pid, size_t n)
{
	struct target target = {.kind = TARGET_PROCESSES, .pids = &pid, .n_pids = 1};
	size_t now;
	do {
		struct counter_targets targets;
		now = counter_targets_find(&targets, &target, NULL) ? targets.list.count : n;
		counter_targets_free(&targets);
	} while (now != n);
}

static bool asleep(pid_t tid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *file = fopen(path, "re");
	text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	const char *name_ends = strrchr(text, ')');
	return !file || !name_ends || strncmp(name_ends, ") S", 3) == 0;
}

/* Each order wakes both threads. One that comes to it later would write to its pages again, after the fork that is
 * counted: a fault of its own, or two. The first is asked twice: it may have waited for the other's lock. */
static void await_sleep(const struct worker *worker)
{
	while (!asleep(worker->tids[0]) || !asleep(worker->tids[1]) || !asleep(worker->tids[0]))
		sched_yield();
}

/* Counts page faults of a target while the worker does its orders ("p100 t30"). False with the reason printed. */
static bool count_worker(const struct target *target, struct worker *worker, const char *orders, struct run *run)
{
	const struct event *events[] = {event("page-faults:u")};
	struct counting *counting;
	struct error err = {0};
	*run = (struct run){0};
	/* a fork before has made each page that is written to next fault once more: let that be over */
	for (const char *what = "ptunp"; *what; what++)
		tell(worker, *what, 1);
	await_threads(worker->pid, 3);
	await_sleep(worker);
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
	pid_t twice[] = {worker.pid, worker.pid}, threads[] = {worker.tids[0], worker.tids[1]};
	struct target target = {.kind = TARGET_PROCESSES, .pids = twice, .n_pids = 1, .follow_children = true};
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

	struct target some = {.kind = TARGET_THREADS, .pids = threads, .n_pids = 1};
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
		.kind = TARGET_PROCESSES, .pids = &worker.pid, .n_pids = 1, .follow_children = true};
	const struct event *events[] = {event("page-faults:u")};
	struct counting *counting = NULL;
	struct error err = {0};
	struct run run = {0};
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
	static const char *const facts[] = {
		"a row for each CPU", "the faults are in the row of the CPU that had them",
		"the total is the sum of the rows", "the task clock of whole CPUs is refused: it counts idle time",
		"a CPU that is not online is an error"};
	int fd = counter_open(
		&(struct counter_request){
			.encoding = &(struct event_encoding){.type = PERF_TYPE_SOFTWARE, .config = 2},
			.levels = LEVEL_USER},
		COUNTER_ANY_TASK, 0);
	if (fd < 0) {
		for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
			skip("this user may not count whole CPUs", facts[i]);
		return;
	}
	close(fd);
	enum { PAGES = 20000 }; /* far more than the rest of the machine has meanwhile */
	cpu_set_t before, last;
	const struct event *events[] = {event("page-faults:u"), event("task-clock")};
	struct command command = command_of("touch", "20000");
	struct target target = {.kind = TARGET_CPUS, .command = &command, .per_cpu = true};
	struct counting *counting = NULL;
	struct error err = {0};
	struct run run = {0};
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
	struct reading sampled[2] = {0};
	perf->read_running(counting, sampled, &err);
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

static void tests(void)
{
	test_processes();
	test_ended_processes();
	test_cpus();
}

int main(int argc, char **argv) { return perf_main(argc, argv, tests); }

/* The exact backend behind its contract: programs that end well, badly, or never start. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/engine/events.h"
#include "backend/engine/available.h"
#include "backend/exact/exact.h"
#include "backend/engine/trial.h"
#include "tap.h"

static struct event_table *table;
static struct backend *backend;
static const struct backend_operations *const ops = &exact_backend;

static struct event event_of(const char *request)
{
	struct event event = {0};
	struct error err;
	if (!event_parse(table, request, &event, &err))
		printf("# %s\n", err.text);
	return event;
}

static bool is_available(const char *request, struct availability *out)
{
	struct event event = event_of(request);
	ops->available(backend, &event, out);
	return out->state == READING_COUNTED;
}

struct outcome {
	bool prepared, gone, stopped;
	int status;
	struct run run;
	struct error err;
};

/* Runs argv to its end with output thrown away. */
static struct outcome count(char *const *argv, const char *const *requests, size_t n, bool children,
			    bool per_thread)
{
	struct outcome o = {0};
	struct event events[8];
	const struct event *pointers[8];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct command command = {.argv = argv, .stdin_fd = null, .stdout_fd = null, .stderr_fd = null};
	// clang-format off: a table, a row a line
	struct target target = {.kind = TARGET_COMMAND,
				.command = &command,
				.follow_children = children,
				.per_thread = per_thread};
	// clang-format on
	struct counting *counting = NULL;
	for (size_t i = 0; i < n; i++)
		events[i] = event_of(requests[i]), pointers[i] = &events[i];
	o.prepared = ops->prepare(backend, &target, pointers, n, &counting, &o.err);
	o.gone = o.prepared && ops->go(counting, &o.err);
	if (o.gone) {
		while (waitpid(ops->process(counting), &o.status, 0) < 0 && errno == EINTR)
			continue;
		o.stopped = ops->stop(counting, &o.run, &o.err);
	}
	for (size_t i = 0; o.stopped && i < n; i++)
		if (o.run.readings[i].state != READING_COUNTED)
			printf("# %s %s: %s: %s\n", argv[0], argv[1] && argv[2] ? argv[2] : "", requests[i],
			       o.run.readings[i].why);
	if (o.err.text[0])
		printf("# %s: %s\n", argv[0], o.err.text);
	if (o.prepared)
		ops->end(counting);
	close(null);
	return o;
}

static bool no_child_left(void) { return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD; }

static void test_available(void)
{
	struct availability a;
	if (!is_available("instructions:u", &a))
		printf("# %s\n", a.why);
	ok(is_available("instructions:u", &a) && a.source == SOURCE_EXACT,
	   "instructions in user mode can be counted exactly");
	ok(!is_available("instructions", &a) && a.state == READING_UNSUPPORTED && a.why[0] &&
		   strstr(a.remedy, ":u"),
	   "with the kernel's they are unsupported: nobody shall take one count for the other");
	ok(!is_available("instructions:k", &a) && a.state == READING_UNSUPPORTED && a.why[0],
	   "in kernel mode they are unsupported, with a reason");
	ok(!is_available("cycles:u", &a) && a.why[0], "cycles are unsupported, with a reason");
	ok(is_available("misaligned-accesses:u", &a) && a.source == SOURCE_EXACT,
	   "what the access stream tells is counted exactly");
	ok(!is_available("r12000::l1d-misses:u", &a) && strstr(a.remedy, "model:r12000"),
	   "a machine's event is not the engine's");
	ok(ops->native(backend, NULL, 0), "no event at all is a native run");
}

/* All of the groups of instructions: those of other processors as well. */
enum { ALL_GROUPS = 15 };

static void test_trial(void)
{
	struct engine_trial plain = {0}, traced = {.traced = true};
	bool passed = trial_passed(&plain) && trial_passed(&traced);
	ok(passed, "the engine counts a known program right: %s%s", plain.why, traced.why);
	for (size_t i = 0; i < exact_event_count(); i++) {
		const struct exact_event *event = exact_event_at(i);
		struct engine_trial *trial = exact_event_needs_trace(event) ? &traced : &plain;
		uint64_t truth, count[COUNTS], value;
		bool known = true;
		for (unsigned c = 0; c < COUNTS; c++)
			known &= trial_truth((enum exact_count)c, ALL_GROUPS, &count[c]);
		ok(known && exact_event_value(event, count, &value) && value > 0,
		   "%s has a stimulus that moves it", event->name);
		ok(passed && trial_counts(trial, event), "and it is counted right");
		for (unsigned c = 0; passed && c < COUNTS; c++)
			if (trial->wrong[c] && exact_event_uses(event, (enum exact_count)c))
				printf("# count %u: %llu is right\n", c,
				       trial_truth((enum exact_count)c, trial_groups(), &truth)
					       ? (unsigned long long)truth
					       : 0ull);
	}
	for (unsigned without = 1; without <= ALL_GROUPS; without++) {
		struct engine_trial less = {.without = without};
		unsigned wrong = 0;
		passed = trial_passed(&less);
		for (unsigned c = 0; c < COUNTS; c++)
			wrong += less.wrong[c];
		ok(passed && wrong == 0,
		   "on a processor without groups %x of instructions all is counted right (%u wrong) %s", without,
		   wrong, less.why);
	}
	/* one class that is counted wrongly */
	struct event fp = event_of("fp-divides:u"), other = event_of("instructions:u");
	struct availability a;
	plain.wrong[COUNT_FP_DIVIDES] = true;
	exact_event_available(&fp, &plain, &a);
	ok(a.state == READING_UNSUPPORTED && strstr(a.why, "wrongly"),
	   "a class whose trial fails is not counted: %s", a.why);
	exact_event_available(&other, &plain, &a);
	ok(a.state == READING_COUNTED, "and the others are");
}

static void test_counts(void)
{
	char *const argv[] = {"true", NULL};
	const char *const requests[] = {"instructions:u", "loads:u", "branches:u"};
	struct outcome o = count(argv, requests, 3, true, false);
	ok(o.stopped && WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0,
	   "a program found in PATH runs and ends as it does");
	ok(o.run.n_events == 3 && o.run.n_rows == 1 && o.run.under_engine,
	   "each event has one reading, and the run was under the engine");
	for (size_t i = 0; o.stopped && i < 3; i++)
		ok(o.run.readings[i].state == READING_COUNTED && o.run.readings[i].source == SOURCE_EXACT &&
			   o.run.readings[i].count_raw > 1000 &&
			   o.run.readings[i].running_ns == o.run.readings[i].enabled_ns,
		   "%s of true are counted, exactly and all the time", requests[i]);
	run_free(&o.run);
	o = count(argv, NULL, 0, true, false);
	ok(o.stopped && !o.run.under_engine && o.run.n_events == 0, "with no event the program runs natively");
	run_free(&o.run);
	ok(no_child_left(), "no process is left");
}

static void test_children(void)
{
	char *const argv[] = {"sh", "-c", "true; (exit 0); /bin/true", NULL};
	const char *const requests[] = {"instructions:u"};
	struct outcome with = count(argv, requests, 1, true, false),
		       without = count(argv, requests, 1, false, false);
	ok(with.stopped && with.run.readings[0].state == READING_COUNTED, "a shell and its children are counted");
	ok(without.stopped && without.run.readings[0].state == READING_COUNTED, "so is it without them");
	ok(with.stopped && without.stopped &&
		   with.run.readings[0].count_raw > without.run.readings[0].count_raw + 50000,
	   "children's instructions are in the sum only when they are followed");
	run_free(&with.run);
	run_free(&without.run);
}

static void test_exec(void)
{
	char *const argv[] = {"sh", "-c", "exec true", NULL};
	const char *const requests[] = {"instructions:u"};
	struct outcome o = count(argv, requests, 1, false, false);
	char *const shell[] = {"sh", "-c", ":", NULL};
	struct outcome alone = count(shell, requests, 1, false, false);
	ok(o.stopped && alone.stopped && o.run.readings[0].state == READING_COUNTED &&
		   o.run.readings[0].count_raw > alone.run.readings[0].count_raw + 50000,
	   "what a program becomes by an exec is counted with it");
	run_free(&o.run);
	run_free(&alone.run);
}

static void test_rows(void)
{
	char *const argv[] = {"sh", "-c", "(exit 0); (exit 0)", NULL};
	const char *const requests[] = {"instructions:u", "code-lines:u"};
	struct outcome o = count(argv, requests, 2, true, true);
	if (ok(o.stopped && o.run.n_rows == 3, "with rows for threads, a shell and two subshells have three")) {
		bool all = true;
		for (size_t row = 0; row < 3; row++)
			all = all && o.run.readings[row * 2].state == READING_COUNTED &&
			      o.run.readings[row * 2].tid > 0;
		ok(all, "each row names its thread");
		ok(o.run.readings[1].state == READING_FAILED, "code lines are not a thread's");
	}
	run_free(&o.run);
}

static void test_blocks(void)
{
	char *const argv[] = {"true", NULL};
	struct event event = event_of("instructions:u"), calls_event = event_of("system-calls:u");
	const struct event *events[] = {&event, &calls_event};
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	struct counting *counting;
	struct run run = {0};
	struct str text = {0};
	struct error err;
	int status;
	unsigned long long sum = 0;
	if (!ops->prepare(backend, &target, events, 2, &counting, &err) || !ops->go(counting, &err))
		return (void)ok(false, "true runs: %s", err.text);
	waitpid(ops->process(counting), &status, 0);
	bool done = ops->stop(counting, &run, &err) && ops->blocks(counting, BLOCKS_OF_ALL, &text, &err);
	ok(done && !strncmp(text.text, "module\toffset\tlength_bytes\tinstructions\tcount\n", 46),
	   "basic blocks come with column names");
	bool own = false;
	for (char *line = done ? strchr(text.text, '\n') + 1 : ""; *line; line = strchr(line, '\n') + 1) {
		unsigned long long insns = 0, count = 0;
		sscanf(line, "%*[^\t]\t%*s\t%*u\t%llu\t%llu", &insns, &count);
		sum += insns * count;
		own |= !strncmp(line, "/usr/bin/true\t", 14) || !strncmp(line, "/bin/true\t", 10);
	}
	equal_u64(sum, done ? run.readings[0].count_raw : 1,
		  "their counts times their instructions are the instructions");
	ok(own, "the program's own are among them, by its path");
	str_free(&text);
	text = (struct str){0};
	unsigned long long calls = 0;
	ok(done && ops->system_calls(counting, &text, &err) && strstr(text.text, "\nexit_group\t1\n") &&
		   strstr(text.text, "\nmmap\t"),
	   "system calls come by name");
	for (char *line = text.text ? strchr(text.text, '\n') + 1 : ""; *line; line = strchr(line, '\n') + 1)
		calls += strtoull(strchr(line, '\t') + 1, NULL, 10);
	equal_u64(calls, done ? run.readings[1].count_raw : 1,
		  "and are as many as the system calls counted in the code");
	ops->end(counting);
	str_free(&text);
	run_free(&run);
}

/* A program that prints where its stack and a library are. */
static bool addresses(bool reproducible, const char *extra, char out[256])
{
	char *const environment[] = {"PATH=/usr/bin:/bin", (char *)(uintptr_t)extra, NULL};
	char *const argv[] = {"sed", "-n", "/stack/p;/libc/p;/tare-record/d", "/proc/self/maps", NULL};
	int ends[2], status;
	if (pipe2(ends, O_CLOEXEC) != 0)
		abort();
	// clang-format off: a table, a row a line
	struct command command = {.argv = argv,
				  .environment = environment,
				  .stdin_fd = -1,
				  .stdout_fd = ends[1],
				  .stderr_fd = -1,
				  .reproducible = reproducible};
	// clang-format on
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct counting *counting;
	struct error err;
	bool done = ops->prepare(backend, &target, NULL, 0, &counting, &err) && ops->go(counting, &err);
	close(ends[1]);
	memset(out, 0, 256);
	if (done) {
		for (ssize_t have = 0, got;
		     have < 255 && (got = read(ends[0], out + have, (size_t)(255 - have))) > 0; have += got)
			continue;
		waitpid(ops->process(counting), &status, 0);
		ops->end(counting);
	}
	close(ends[0]);
	return done;
}

static void test_reproducible(void)
{
	char first[256], second[256], third[256];
	int persona = personality(0xffffffff); /* `setarch -R` started this? */
	FILE *setting = fopen("/proc/sys/kernel/randomize_va_space", "re");
	bool random = !setting || fgetc(setting) != '0';
	bool done = addresses(true, "A=1", first) &&
		    addresses(true, "A=a value that is a good deal longer than the other one", second);
	personality((unsigned long)persona & ~(unsigned long)ADDR_NO_RANDOMIZE);
	done = done && addresses(false, "A=1", third);
	personality((unsigned long)persona);
	if (setting)
		fclose(setting);
	ok(done && strstr(first, "libc") && !strcmp(first, second),
	   "reproducible executions have the same addresses, whatever the environment");
	if (random)
		ok(done && strcmp(first, third) != 0, "others do not");
	else
		skip("this system's addresses are not random", "others do not");
}

/* Ends who waits for that FIFO to be written, as soon as he does. */
static void let_go(const char *fifo)
{
	int fd;
	while ((fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO)
		usleep(1000);
	close(fd);
}

static void test_bad_ends(void)
{
	const char *const requests[] = {"instructions:u"};
	char *const killed[] = {"sh", "-c", "kill -KILL $$", NULL};
	struct outcome o = count(killed, requests, 1, true, false);
	ok(o.stopped && WIFSIGNALED(o.status) && WTERMSIG(o.status) == 9, "a killed program ends by its signal");
	ok(o.stopped && o.run.readings[0].state == READING_FAILED && o.run.readings[0].why,
	   "its count is not exact, so there is none, and why is said");
	run_free(&o.run);
	char fifo[] = "/tmp/exact-test-XXXXXX", script[100];
	close(mkstemp(fifo));
	unlink(fifo);
	if (mkfifo(fifo, 0600) != 0)
		abort();
	snprintf(script, sizeof script, "cat %s & exit 7", fifo);
	char *const background[] = {"sh", "-c", script, NULL};
	o = count(background, requests, 1, true, false);
	ok(o.stopped && WEXITSTATUS(o.status) == 7,
	   "a program that leaves a child behind ends with its own status");
	ok(o.stopped && o.run.readings[0].state == READING_FAILED &&
		   (strstr(o.run.readings[0].why, "still runs") || strstr(o.run.readings[0].why, "being started")),
	   "while the child runs, the count with children is not complete, and why is said");
	run_free(&o.run);
	let_go(fifo);
	o = count(background, requests, 1, false, false);
	ok(o.stopped && o.run.readings[0].state == READING_COUNTED, "the count without children is");
	run_free(&o.run);
	let_go(fifo);
	unlink(fifo);
}

/* tare killed while its program runs: what the program execs then runs natively, and does not wait for an attendant that is gone. */
static void test_orphan(void)
{
	char path[] = "/tmp/exact-test-XXXXXX", text[100];
	int fd = mkstemp(path), status;
	close(fd);
	unlink(path);
	snprintf(text, sizeof text, "sleep 0.7; /bin/true; echo > %s", path);
	char *const argv[] = {"sh", "-c", text, NULL};
	pid_t tare = fork();
	if (tare == 0) {
		struct event event = event_of("instructions:u");
		const struct event *events[] = {&event};
		struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
		struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
		struct counting *counting;
		struct error err;
		if (ops->prepare(backend, &target, events, 1, &counting, &err) && ops->go(counting, &err))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	waitpid(tare, &status, 0);
	bool there = false;
	for (int i = 0; i < 600 && !there; i++) { /* as long as a loaded machine may take; done in a second */
		usleep(100000);
		there = access(path, F_OK) == 0;
	}
	ok(WIFSIGNALED(status) && there, "a program goes on when tare was killed");
	unlink(path);
}

static void test_no_start(void)
{
	const char *const requests[] = {"instructions:u"};
	char *const missing[] = {"/nonexistent/program", NULL};
	struct outcome o = count(missing, requests, 1, true, false);
	ok(!o.prepared && o.err.code == ERROR_NOT_FOUND, "a missing program is an error before anything runs");
	char path[] = "/tmp/exact-test-XXXXXX";
	int fd = mkstemp(path);
	if (write(fd, "#!/nonexistent/interpreter\n", 27) != 27)
		abort();
	fchmod(fd, 0755);
	close(fd);
	char *const script[] = {path, NULL};
	o = count(script, requests, 1, true, false);
	ok(o.prepared && !o.gone && o.err.code == ERROR_NOT_FOUND && strstr(o.err.text, "interpreter"),
	   "a script whose interpreter is missing is an error that says so");
	fd = open(path, O_WRONLY | O_TRUNC);
	if (write(fd, "#!/bin/sh\nexit 5\n", 17) != 17)
		abort();
	close(fd);
	o = count(script, requests, 1, true, false);
	ok(o.stopped && WEXITSTATUS(o.status) == 5 && o.run.readings[0].state == READING_COUNTED,
	   "a script is counted");
	run_free(&o.run);
	unlink(path);
	ok(no_child_left(), "no process is left after failures");
	struct target target = {.kind = TARGET_PROCESSES};
	struct counting *counting;
	struct error err;
	ok(!ops->prepare(backend, &target, NULL, 0, &counting, &err) && !counting && err.code == ERROR_UNSUPPORTED,
	   "a running process is refused");
	/* prepared and never let go */
	struct event event = event_of("instructions:u");
	const struct event *events[] = {&event};
	unlink(path);
	char *const argv[] = {"touch", path, NULL};
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	target = (struct target){.kind = TARGET_COMMAND, .command = &command};
	bool prepared = ops->prepare(backend, &target, events, 1, &counting, &err);
	if (prepared)
		ops->end(counting);
	ok(prepared && access(path, F_OK) != 0 && no_child_left(),
	   "a program that is never let go does nothing and is reaped");
}

/* As another user than root: a copy of true with these bits is refused for this reason. */
static void test_refused(const char *mode, const char *reason, const char *fact)
{
	if (geteuid() != 0) {
		skip("only root can make such a program", fact);
		return;
	}
	char path[64];
	snprintf(path, sizeof path, "/tmp/exact-test-refused-%d", (int)getpid());
	pid_t child = fork();
	if (child == 0) {
		char *const argv[] = {path, NULL};
		const char *const requests[] = {"instructions:u"};
		char line[256];
		snprintf(line, sizeof line, "cp /bin/true %s && chmod %s %s", argv[0], mode, argv[0]);
		if (system(line) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
			_exit(2);
		prctl(PR_SET_DUMPABLE,
		      1); /* as after an exec: changing the user made it untraceable, and its children */
		struct outcome o = count(argv, requests, 1, true, false);
		_exit(o.prepared && !o.gone && o.err.code == ERROR_UNSUPPORTED && strstr(o.err.text, reason) ? 0
													     : 1);
	}
	int status;
	waitpid(child, &status, 0);
	unlink(path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		skip("no such program can be made here", fact);
	else
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", fact);
}

int main(void)
{
	struct error err;
	struct availability a;
	table = event_table_new(&err);
	if (!table || !ops->open(NULL, &backend, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	struct backend *other;
	ok(!ops->open("argument", &other, &err) && !other && err.code == ERROR_USAGE, "an argument is an error");
	if (!is_available("instructions:u", &a)) {
		printf("1..0 # SKIP %s\n", a.why);
		return 0;
	}
	test_available();
	test_trial();
	test_counts();
	test_children();
	test_exec();
	test_rows();
	test_blocks();
	test_reproducible();
	test_bad_ends();
	test_orphan();
	test_no_start();
	test_refused("4755", "set-user-ID",
		     "a set-user-ID program is refused before it runs when its rights would be lost");
	test_refused("0111", "not read", "so is a program whose file may not be read, for that reason");
	ops->close(backend);
	event_table_free(table);
	return done();
}

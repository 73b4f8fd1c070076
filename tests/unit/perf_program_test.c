/* The perf backend on programs that tare starts: what is counted is compared with arithmetic about their work. The
 * events are the kernel's own, which every Linux has. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "backend/perf/counter/cancel.h"
#include "backend/perf/counter/counter.h"
#include "perf_program.h"

/* ---- programs ---- */

static void test_page_faults(void)
{
	uint64_t direct[2] = {faults("touch", "0", true), faults("touch", "1000", true)};
	exactly(direct[1] - direct[0], 1000, "a program that touches 1000 pages more has 1000 page faults more");
	uint64_t forked[2] = {faults("fork", "0", true), faults("fork", "1000", true)};
	exactly(forked[1] - forked[0], 1000,
		"those of a child process that has ended count, when children are followed");
	uint64_t left[2] = {faults("fork", "0", false), faults("fork", "1000", false)};
	exactly(left[1], left[0], "and do not count when children are not followed");
	uint64_t thread[2] = {faults("thread", "0", false), faults("thread", "1000", false)};
	/* not to the fault: what two threads do at once in one address space may fault once more or less */
	printf("# %" PRIu64 " and %" PRIu64 "\n", thread[0], thread[1]);
	ok(thread[1] >= thread[0] + 900,
	   "a thread, which touches 1000 pages, is part of the program, children followed or not");

	struct reading r = count("page-faults:u", "touch", "10", true, NULL, NULL);
	ok(r.running_ns == r.enabled_ns && r.enabled_ns > 0,
	   "an event of the operating system counts all the time");
}

static void test_context_switches(void)
{
	static const char fact[] = "the switches of a program that sleeps 50 times are those of the account";
	const char *why = lacking("context-switches");
	if (why) {
		skip(why, fact);
		return;
	}
	/* the account begins with the fork, the counter with the exec: until then tare's part waits, once or twice,
	 * and anybody may take its CPU. The last switch, at the end, is in one of them. A sleep that was over before
	 * the CPU was given up is none: the account is the witness. */
	enum { BEFORE_EXEC = 6 };
	struct rusage usage;
	uint64_t none = count("context-switches", "sleep", "0", true, NULL, NULL).count_raw;
	uint64_t many = count("context-switches", "sleep", "50", true, &usage, NULL).count_raw;
	uint64_t account = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	printf("# %" PRIu64 " and %" PRIu64 ", by the operating system's account %" PRIu64 "\n", none, many,
	       account);
	ok(many + BEFORE_EXEC >= account && many <= account + 1, "%s", fact);
	ok(many > none + 25, "and more than those of one that does not sleep");
}

static double monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* One execution of so much CPU time: its task clock, its CPU time by the operating system's account, and the elapsed time. */
struct burnt {
	double clock_ns, account_ns, elapsed_ns;
};

static struct burnt burn_counted(const char *milliseconds)
{
	struct rusage usage;
	double begin = monotonic_ns();
	struct reading r = count("task-clock", "burn", milliseconds, true, &usage, NULL);
	struct burnt burnt = {.clock_ns = (double)r.count_raw,
			      .elapsed_ns = monotonic_ns() - begin,
			      .account_ns = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
					    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3};
	printf("# task-clock %.3f ms, by the account %.3f ms, elapsed %.3f ms\n", burnt.clock_ns / 1e6,
	       burnt.account_ns / 1e6, burnt.elapsed_ns / 1e6);
	return burnt;
}

/* The kernel's two clocks of a process differ: perf's runs while the process is on a CPU, the account's not while
 * the hypervisor has taken that CPU away (steal) nor, in some kernels, in interrupts; and the account begins with
 * the fork, where tare's part takes some 0.1 ms, as in an execution that ends at once. What comes between there, and at
 * a switch, is in the account only: a loaded machine may have that in any one execution; a clock that lost time would
 * lose it in each. */
static void test_task_clock(void)
{
	enum { EXECUTIONS = 10 };
	bool bounded = true, whole = false, enough = false;
	struct burnt empty = burn_counted("0");
	double before_ns = 2e6 + fmax(empty.account_ns - empty.clock_ns, 0);
	for (int i = 0; i < EXECUTIONS && !(whole && enough); i++) {
		struct burnt burnt = burn_counted("60");
		bounded &= burnt.clock_ns <= burnt.elapsed_ns;
		whole |= burnt.clock_ns >= burnt.account_ns - before_ns;
		enough |= burnt.clock_ns >= 60e6 - 5e6;
	}
	ok(bounded, "the task clock of one thread is not more than the elapsed time");
	ok(whole, "and not less than the account by more than what comes before the exec (2 ms, and what an empty "
		  "program has)");
	ok(enough, "60 ms of CPU time, the start included, are at least 55 ms of task clock");
}

/* Until it sleeps: the held program waits for the word to go. */
static void wait_until_it_sleeps(pid_t pid)
{
	char path[40], line[512], state = 'R';
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	while (state != 'S') {
		FILE *file = fopen(path, "r");
		bool read = file && fgets(line, sizeof line, file);
		if (file)
			fclose(file);
		if (!read || sscanf(strrchr(line, ')'), ") %c", &state) != 1 || state == 'Z')
			return;
		sched_yield();
	}
}

static void test_account(void)
{
	struct command command = command_of("touch", "100");
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	const struct event *events[] = {event("page-faults:u")};
	struct counting *counting;
	struct error err = {0};
	const struct run before = {
		.minor_faults = 1000000, .voluntary_switches = 1000000, .user_ns = 1, .system_ns = 5000000000u};
	struct run run = before;
	bool done = perf->prepare(backend, &target, NULL, 0, &counting, &err) && perf->go(counting, &err);
	ok(done && perf->process(counting) > 0, "without events the program is run all the same");
	waitpid(perf->process(counting), NULL, 0);
	ok(perf->stop(counting, &run, &err) && run.n_events == 0 && run.n_rows == 1, "and there are no readings");
	perf->end(counting);
	run_free(&run);

	run = before;
	done = perf->prepare(backend, &target, events, 1, &counting, &err);
	if (done)
		wait_until_it_sleeps(perf->process(counting));
	done = done && perf->go(counting, &err);
	waitpid(perf->process(counting), NULL, 0);
	ok(done && perf->stop(counting, &run, &err) && run.voluntary_switches < 1000000 &&
		   run.voluntary_switches > 999000,
	   "that it waited, held, for the word to go is taken out of the account");
	/* it shares tare's memory while it is held: it may have no page fault at all then */
	ok(run.minor_faults <= 1000000 && run.minor_faults > 999000 && run.user_ns <= 1,
	   "so is what else tare's part cost; the account stays above zero");
	perf->end(counting);
	run_free(&run);
}

static void test_not_counted(void)
{
	struct availability answer;
	const struct event *events[] = {event("page-faults:u"), event("task-clock:u"), event("nosuchpmu/x/")};
	struct command command = command_of("touch", "100");
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct counting *counting;
	struct error err = {0};
	struct run run = {0};
	works("task-clock:u", &answer);
	bool done = perf->prepare(backend, &target, events, 3, &counting, &err) && perf->go(counting, &err);
	ok(done, "one event that works is enough");
	waitpid(perf->process(counting), NULL, 0);
	struct reading sampled[3];
	ok(perf->read_running(counting, sampled, &err) && sampled[0].count_raw >= 100,
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
	const struct event *events[] = {event("task-clock")};
	struct command command = command_of("burn", "40");
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct counting *counting;
	struct error err = {0};
	struct run run = {0};
	uint64_t last = 0, samples = 0;
	bool grows = true, runs = true;
	if (!perf->prepare(backend, &target, events, 1, &counting, &err) || !perf->go(counting, &err)) {
		ok(false, "sampling: %s", err.text);
		return;
	}
	while (waitpid(perf->process(counting), NULL, WNOHANG) == 0) {
		struct reading r;
		perf->read_running(counting, &r, &err);
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
	const struct event *events[] = {event("page-faults:u")};
	struct command command = {
		.argv = (char *[]){missing, NULL}, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct counting *counting = (void *)1;
	struct error err = {0};
	ok(!perf->prepare(backend, &target, events, 1, &counting, &err) && !counting &&
		   err.code == ERROR_NOT_FOUND,
	   "a program that is not there is an error of prepare");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "and leaves no process");

	snprintf(script, sizeof script, "/tmp/tare-perf-%d", (int)getpid());
	FILE *file = fopen(script, "w");
	fputs("not a program\n", file);
	fclose(file);
	chmod(script, 0700);
	command.argv = (char *[]){script, NULL};
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
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct counting *counting;
	struct run run = {0};
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
	struct error err = {0};
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

static int too_many_counters(void)
{
	struct rlimit limit = {LOW, LOW};
	struct error err = {0};
	int unused;
	if (geteuid() == 0 && (paranoid_level() > 2 || !become_nobody()))
		return 3;
	setrlimit(RLIMIT_NOFILE, &limit);
	bool failed = !count_many(&unused, &err);
	return failed && err.code == ERROR_LIMIT && strstr(err.text, "60 counters") && err.hint[0] ? 0 : 1;
}

static int as_nobody(void)
{
	struct availability answer;
	struct error err = {0};
	struct counting *counting;
	const pid_t first = 1;
	const struct event *events[] = {event("page-faults:u")};
	struct target target = {.kind = TARGET_PROCESSES, .pids = &first, .n_pids = 1};
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
	struct target cpus = {.kind = TARGET_CPUS};
	if (perf->prepare(other, &cpus, events, 1, &counting, &err) || err.code != ERROR_PERMISSION ||
	    !strstr(err.hint, "perf_event_paranoid=0"))
		return 7;
	/* it can count its own */
	uint64_t few = faults("touch", "0", true), more = faults("touch", "300", true);
	perf->close(other);
#if defined(SANITIZED)
	return more > few ? 0 : 8;
#endif
	return more - few == 300 ? 0 : 8;
}

/* From here on perf_event_open(2) fails in this process with this errno, as in a container. */
static bool forbid_perf(unsigned os_errno)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | os_errno),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int under_seccomp(unsigned os_errno, enum reading_state state, const char *part)
{
	struct availability answer;
	struct finding findings[32];
	struct error err = {0};
	size_t n = 0, working = 0;
	if (!forbid_perf(os_errno) || !perf->open(NULL, &backend, &err))
		return 3;
	if (works("page-faults:u", &answer) || answer.state != state || !strstr(answer.why, part) ||
	    !answer.remedy[0])
		return 1;
	perf->diagnose(backend, findings, 32, &n);
	for (size_t i = 0; i < n; i++)
		working += findings[i].state == FINDING_WORKS &&
			   strcmp(findings[i].what, "hardware counters") == 0;
	/* the program is run all the same, and its reading says why there is no count */
	struct reading r = count("page-faults:u", "touch", "10", true, NULL, NULL);
	perf->close(backend);
	return working ? 2 : r.state == state && r.count_raw == 0 ? 0 : 4;
}

static int forbidden(void) { return under_seccomp(EPERM, READING_DENIED, "seccomp"); }

static int not_implemented(void) { return under_seccomp(ENOSYS, READING_UNSUPPORTED, "container or sandbox"); }

static void test_seccomp(void)
{
	static int (*const tests[])(void) = {forbidden, not_implemented};
	static const char *const facts[] = {
		"where a seccomp filter forbids counting, it is the filter that is named, and the program runs",
		"where it makes the system call unknown, the sandbox is named, not the kernel's configuration",
	};
	for (size_t i = 0; i < 2; i++) {
		int status = in_child(tests[i]);
		if (status == 3)
			skip("seccomp filters cannot be set here", facts[i]);
		else
			equal_u64((uint64_t)status, 0, facts[i]);
	}
}

static void test_limits(void)
{
	equal_u64(
		(uint64_t)in_child(many_counters), 0,
		"more counters than the soft limit of files are opened, and the program has the limit as it was");
	const char *fact = "more than the hard limit are an error that says how many";
	int status = in_child(too_many_counters);
	if (status == 3)
		skip("user 'nobody' may count nothing", fact);
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
	struct event_encoding encoding = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .scale = 1};
	struct counter_request request = {.encoding = &encoding, .levels = LEVEL_USER, .begin_at_exec = true};
	struct counter_values values = {0};
	int go[2], status;
	char byte;
	if (!become_nobody() || pipe(go) != 0)
		return 3;
	if (!exec_cancels(privileged))
		return 1;
	pid_t child = fork();
	if (child == 0) {
		close(go[1]); /* so that the child does not outlive a test that fails */
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

static void tests(void)
{
	test_page_faults();
	test_context_switches();
	test_task_clock();
	test_account();
	test_not_counted();
	test_sampling();
	test_no_program();
	test_limits();
	test_seccomp();
	test_rights();
	test_cancelled();
}

int main(int argc, char **argv) { return perf_main(argc, argv, tests); }

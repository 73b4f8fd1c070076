#include "backend/perf/probe/follow.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/probe/trace.h"
#include "base/vec.h"

struct followed_thread {
	pid_t tid;
	struct probe_group *group; /* NULL: not counted any more, or never */
	struct thread_passes *passes;
	int primer;  /* see prime(); -1 */
	bool silent; /* the kernel has nothing to say of it any more: its end will be reported */
};

struct follower {
	const struct follow_task *task;
	VEC(struct followed_thread *) threads;
	VEC(struct pollfd) polled;
	VEC(struct probe_place) primers; /* the places of primers; few, for programs begin alike */
	VEC(int) unused; /* primers of the past: closing one takes the kernel tens of milliseconds */
	struct trace_probes trace;
	bool tracing; /* it is open */
	int guess;    /* task->primer, opened before the program has begun; -1 */
	bool prime;
	bool executed;    /* the program has begun */
	uint64_t hits_ns; /* of threads that have ended */
};

static void incomplete(struct follower *f, const char *format, const char *what)
{
	char *why = f->task->report->why;
	if (!why[0])
		snprintf(why, REGION_WHY_BYTES, format, what);
}

static struct followed_thread *thread_of(struct follower *f, pid_t tid)
{
	for (size_t i = 0; i < f->threads.count; i++)
		if (f->threads.items[i]->tid == tid)
			return f->threads.items[i];
	return NULL;
}

/* ---- groups ---- */

static void drain(struct followed_thread *t)
{
	if (t->group)
		group_drain(t->group, t->passes); /* what it lost, group_incomplete() says in the end */
}

static void put_away(struct follower *f, struct followed_thread *t)
{
	enum { KEPT_MOST = 200 };
	if (t->primer >= 0 && (f->unused.count == KEPT_MOST || !vec_push(&f->unused, t->primer)))
		close(t->primer);
	t->primer = -1;
}

static void close_group(struct follower *f, struct followed_thread *t)
{
	if (!t->group)
		return;
	f->task->report->hits += group_hits(t->group);
	f->task->report->threads += group_hits(t->group) > 0;
	f->hits_ns += group_hits_ns(t->group);
	group_close(t->group);
	t->group = NULL;
}

static void close_thread(struct follower *f, struct followed_thread *t)
{
	if (t->group) {
		drain(t);
		const char *why = group_incomplete(t->group);
		if (why)
			incomplete(f, "%s", why);
		close_group(f, t);
	}
	put_away(f, t);
	passes_end(t->passes);
	for (size_t i = 0; i < f->threads.count; i++)
		if (f->threads.items[i] == t)
			f->threads.items[i] = f->threads.items[--f->threads.count];
	free(t);
}

/* 4 MB hold 20 ms of hits at the rate that one thread can make (2 million a second, 100 bytes each); many threads
 * get less each. */
static size_t pages_of_ring(const struct follower *f)
{
	size_t n = f->threads.count;
	return n < 4 ? 1024 : n < 32 ? 256 : n < 256 ? 64 : 16;
}

static size_t refused(const struct group_plan *plan)
{
	size_t n = 0;
	for (size_t i = 0; i < plan->n_events; i++)
		n += plan->events[i].os_errno != 0;
	return n;
}

/* NULL, or a thread without a group: not counted; the reason is in errno, and in the report. */
static struct followed_thread *add_thread(struct follower *f, pid_t tid, size_t *probe)
{
	struct followed_thread *t = calloc(1, sizeof *t);
	size_t before = refused(f->task->plan);
	*probe = SIZE_MAX;
	if (t && vec_push(&f->threads, t)) {
		t->tid = tid;
		t->primer = -1;
		t->passes = passes_new(f->task->regions, f->task->sums);
		if (t->passes && f->task->report->too_dear)
			return t;
		if (t->passes && (f->threads.count == 1 && !f->executed ? group_open_before_exec : group_open)(
					 f->task->plan, tid, pages_of_ring(f), &t->group, probe)) {
			/* what the first thread could have, each must have */
			if (f->executed && refused(f->task->plan) != before)
				incomplete(f, "%s", "a counter of a thread could not be opened");
			return t;
		}
		int reason = t->passes ? errno : ENOMEM;
		incomplete(f, "the counters of a thread could not be opened: %s", strerror(reason));
		errno = reason;
		return t;
	}
	free(t);
	incomplete(f, "%s", "out of memory");
	errno = ENOMEM;
	return NULL;
}

/* ---- following ---- */

static uint64_t instruction_pointer(pid_t tid)
{
	struct user_regs_struct registers;
	struct iovec where = {&registers, sizeof registers};
	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &where) != 0)
		return 0;
#if defined(__x86_64__)
	return registers.rip;
#elif defined(__aarch64__)
	return registers.pc;
#else
	return 0;
#endif
}

/* The process that a thread is of; 0: it is gone. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int process = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	if (file)
		fclose(file);
	return process;
}

/* Where a process is: the file, and the offset in it, of its next instruction. */
static bool next_instruction(pid_t tid, char *path, size_t size, uint64_t *offset)
{
	char name[64], line[PATH_MAX + 128];
	unsigned long long from, to, start;
	bool found = false;
	uint64_t ip = instruction_pointer(tid);
	snprintf(name, sizeof name, "/proc/%d/maps", (int)tid);
	FILE *file = ip ? fopen(name, "re") : NULL;
	while (file && !found && fgets(line, sizeof line, file)) {
		int at = 0;
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &start, &at) < 3 || !at ||
		    ip < from || ip >= to || line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		found = strlen(line + at) < size;
		if (found)
			strcpy(path, line + at);
		*offset = ip - from + start;
	}
	if (file)
		fclose(file);
	return found;
}

/* As events of tracefs, where it can be had. */
static void define(struct follower *f, struct probe_place *places, size_t n)
{
	size_t defined = 0;
	for (size_t i = 0; i < n; i++)
		defined += places[i].trace_id != 0;
	if (defined == n)
		return;
	if (!f->tracing)
		trace_probes_open(&f->trace);
	f->tracing = true;
	trace_probes_define(&f->trace, places, n);
}

/* NULL when memory ran out. */
static const struct probe_place *primer_place(struct follower *f, const char *path, uint64_t offset)
{
	enum { PLACES_MOST = 64 };
	for (size_t i = 0; i < f->primers.count; i++)
		if (f->primers.items[i].offset == offset && strcmp(f->primers.items[i].module, path) == 0)
			return &f->primers.items[i];
	struct probe_place place = {.module = strdup(path), .offset = offset};
	if (!place.module || !vec_push(&f->primers, place))
		return NULL;
	struct probe_place *kept = &f->primers.items[f->primers.count - 1];
	if (f->primers.count <= PLACES_MOST)
		define(f, kept, 1);
	return kept;
}

static bool is_guess(const struct follower *f, const char *path, uint64_t offset)
{
	const struct probe_place *guess = f->task->primer;
	return guess->module && guess->offset == offset && strcmp(guess->module, path) == 0;
}

static void note_primer(struct follower *f, const char *path, uint64_t offset)
{
	strcpy(f->task->report->primer, path); /* as long as next_instruction() had it: PATH_MAX */
	f->task->report->primer_offset = offset;
}

/*
 * The kernel executes probed instructions from a page that it puts into the program when the first of them is
 * executed, and the program's first step into it is a page fault. So that no region has it, another instruction
 * is probed before: the next one of a process that has begun or executed a program. Marks of branch targets are
 * skipped (endbr64; bti, hint #32 … #38), which the kernel does without a page.
 */
static void prime(struct follower *f, struct followed_thread *t)
{
	char path[PATH_MAX];
	uint64_t offset;
	put_away(f, t);
	if (!f->prime || f->task->report->too_dear)
		return;
	if (next_instruction(t->tid, path, sizeof path, &offset)) {
		int file = open(path, O_RDONLY | O_CLOEXEC);
		unsigned char code[4] = {0};
		bool mark = file >= 0 && pread(file, code, sizeof code, (off_t)offset) == 4 &&
			    (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ||
			     (code[3] == 0xd5 && code[2] == 0x03 && code[1] == 0x24));
		if (file >= 0)
			close(file);
		offset += mark ? 4 : 0;
		if (!f->executed)
			note_primer(f, path, offset);
		if (!f->executed && f->guess >= 0 && is_guess(f, path, offset)) {
			t->primer = f->guess;
			f->guess = -1;
		} else {
			const struct probe_place *place = primer_place(f, path, offset);
			t->primer = place ? primer_open(f->task->plan, t->tid, place, false) : -1;
		}
	}
	f->task->report->unprimed += t->primer < 0;
}

static const long OPTIONS = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

/* A stop of a thread seen for the first time. True: it is let go of. */
static bool newcomer(struct follower *f, pid_t tid)
{
	pid_t process = process_of(tid);
	size_t probe;
	if (!f->task->children && process != f->task->program) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return true;
	}
	struct followed_thread *t = add_thread(f, tid, &probe);
	if (t && t->group && !group_enable(t->group))
		incomplete(f, "the counters of a thread could not be started: %s", strerror(errno));
	if (t && process == tid)
		prime(f, t);
	return false;
}

/* The kernel has given the thread that executes the number of its process, and ended all others. */
static void executed(struct follower *f, pid_t tid)
{
	unsigned long former = 0;
	struct followed_thread *t;
	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former) == 0 && former && (pid_t)former != tid) {
		if ((t = thread_of(f, tid)))
			close_thread(f, t);
		if ((t = thread_of(f, (pid_t)former)))
			t->tid = tid;
	}
	t = thread_of(f, tid);
	if (!t)
		return;
	drain(t);
	passes_exec(t->passes);
	prime(f, t);
	if (tid == f->task->program && !f->executed) {
		f->executed = true;
		if (t->group && !group_enable(t->group))
			incomplete(f, "the counters could not be started: %s", strerror(errno));
	}
}

static void stopped(struct follower *f, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	if (!thread_of(f, tid) && newcomer(f, tid))
		return;
	if (event == PTRACE_EVENT_EXEC)
		executed(f, tid);
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		/* it is stopped, as the terminal or somebody's SIGSTOP wants it */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, tid, NULL, event ? 0 : (long)signal);
}

static bool take_news(struct follower *f)
{
	int status;
	pid_t tid;
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		struct followed_thread *t = thread_of(f, tid);
		if (WIFSTOPPED(status))
			stopped(f, tid, status);
		else if (t)
			close_thread(f, t);
	}
	return tid == 0 || errno != ECHILD;
}

/* ---- probes that cost too much ---- */

/* A quarter of a second in traps is little of any measurement. More of it is too much where the program does next
 * to nothing else: it would take ten times as long, or ten thousand times. */
static const double TRAPS_LEAST_NS = 250e6, TRAPS_SHARE = 0.9;

static bool is_too_dear(const struct follower *f)
{
	uint64_t hits = f->task->report->hits, ns = f->hits_ns;
	for (size_t i = 0; i < f->threads.count; i++) {
		const struct probe_group *group = f->threads.items[i]->group;
		hits += group ? group_hits(group) : 0;
		ns += group ? group_hits_ns(group) : 0;
	}
	double traps_ns = (double)hits * f->task->trap_ns;
	return traps_ns > TRAPS_LEAST_NS && traps_ns > TRAPS_SHARE * (double)ns;
}

/* The threads run on without. What they did in regions until now counts as nothing. */
static void stop_probing(struct follower *f)
{
	incomplete(f, "%s", "the probes took most of the time, and tare removed them");
	f->task->report->too_dear = true;
	for (size_t i = 0; i < f->threads.count; i++)
		close_group(f, f->threads.items[i]);
}

/* ---- all of it ---- */

static void become_quiet(int control)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		/* the terminal's are for tare, which tells this process when to end */
		sigaction(numbers[i], &ignore, NULL);
	signal(SIGCHLD, SIG_DFL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		if (fd != control)
			dup2(null, fd);
	/* the pipes of the program, above all: their ends tell tare and others what happened */
	if (control > 3)
		close_range(3, (unsigned)control - 1, 0);
	close_range(control < 2 ? 3 : (unsigned)control + 1, ~0u, 0);
	setpriority(PRIO_PROCESS, 0, -10); /* where it may: a buffer that is full loses readings */
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max; /* each thread takes some */
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static bool is_page_fault(const struct event_encoding *e)
{
	return e && e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_PAGE_FAULTS || e->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		e->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static bool begin(struct follower *f, struct error *err)
{
	pid_t program = f->task->program;
	size_t probe;
	if (ptrace(PTRACE_SEIZE, program, NULL, OPTIONS) != 0) {
		error_set_errno(err, ERROR_PERMISSION, errno, "cannot follow the program's threads (ptrace)");
		return error_hint(err, "allow ptrace (kernel.yama.ptrace_scope, or a container's seccomp "
				       "profile), or count with --on exact");
	}
	define(f, f->task->plan->probes, f->task->plan->n_probes);
	for (size_t i = 0; i < f->task->plan->n_events; i++)
		f->prime |= is_page_fault(f->task->plan->events[i].encoding);
	struct followed_thread *t = add_thread(f, program, &probe);
	int reason = errno;
	if (!t)
		return error_no_memory(err);
	if (f->prime && f->task->primer->module)
		f->guess = primer_open(f->task->plan, program, f->task->primer, true);
	for (size_t i = 0; t->group && probe == SIZE_MAX && i < f->task->plan->n_probes; i++) {
		if (f->task->plan->probes[i].checked || probe_check(f->task->plan, i))
			continue;
		reason = errno;
		probe = i;
	}
	if (t->group && probe == SIZE_MAX)
		return true;
	bool permission = reason == EACCES || reason == EPERM;
	static const char rights[] =
		"probes need root or CAP_PERFMON; --on exact counts regions without any privilege";
	if (probe == SIZE_MAX) {
		error_set_errno(err, permission ? ERROR_PERMISSION : ERROR_SYSTEM, reason,
				"cannot open the counters of regions");
		return permission ? error_hint(err, "%s", rights) : false;
	}
	const struct probe_place *place = &f->task->plan->probes[probe];
	error_set_errno(err, permission ? ERROR_PERMISSION : ERROR_UNSUPPORTED, reason,
			"cannot put a probe at '%s+0x%llx'", place->module, (unsigned long long)place->offset);
	return error_hint(err, "%s", permission ? rights : "--on exact counts regions without probes");
}

static void gather(struct follower *f)
{
	f->polled.count = 0;
	for (size_t i = 0; i < f->threads.count; i++)
		if (f->threads.items[i]->group && !f->threads.items[i]->silent &&
		    !vec_push(&f->polled,
			      ((struct pollfd){.fd = group_fd(f->threads.items[i]->group), .events = POLLIN})))
			incomplete(f, "%s", "out of memory");
}

_Noreturn void follow(const struct follow_task *task)
{
	struct follower f = {.task = task, .trace = {.folder = -1}, .guess = -1};
	sigset_t mask;
	become_quiet(task->control);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	int news = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (news < 0)
		error_set_errno(&task->report->failed, ERROR_SYSTEM, errno, "cannot follow the program's threads");
	else if (begin(&f, &task->report->failed))
		task->report->begun = 1;
	if (!task->report->begun) {
		while (f.threads.count)
			close_thread(&f, f.threads.items[0]);
		if (f.guess >= 0)
			close(f.guess);
		trace_probes_remove(&f.trace);
	}
	for (size_t i = 0; i < task->plan->n_events; i++)
		task->os_errno[i] = task->plan->events[i].os_errno;
	if (write(task->control, "b", 1) != 1 || !task->report->begun)
		_exit(1);
	for (;;) {
		struct signalfd_siginfo info;
		gather(&f);
		size_t threads = f.polled.count;
		if (!vec_push(&f.polled, ((struct pollfd){.fd = news, .events = POLLIN})) ||
		    !vec_push(&f.polled, ((struct pollfd){.fd = task->control, .events = POLLIN})))
			break;
		poll(f.polled.items, f.polled.count, -1);
		for (size_t i = 0; i < f.threads.count; i++) {
			struct followed_thread *t = f.threads.items[i];
			drain(t);
			for (size_t j = 0; t->group && j < threads; j++)
				if (f.polled.items[j].fd == group_fd(t->group) &&
				    f.polled.items[j].revents & (POLLHUP | POLLERR))
					t->silent = true;
		}
		if (!task->report->too_dear && is_too_dear(&f))
			stop_probing(&f);
		bool ended = f.polled.items[threads + 1].revents != 0;
		if (f.polled.items[threads].revents) {
			while (read(news, &info, sizeof info) > 0)
				;
			take_news(&f);
		}
		if (ended)
			break;
	}
	take_news(&f);
	while (f.threads.count)
		close_thread(&f, f.threads.items[f.threads.count - 1]);
	for (size_t i = 0; i < f.unused.count; i++)
		close(f.unused.items[i]);
	if (f.guess >= 0)
		close(f.guess);
	trace_probes_remove(&f.trace);
	if (write(task->control, "e", 1) != 1)
		_exit(1);
	_exit(0);
}

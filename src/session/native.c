#include "session/native.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/launch.h"
#include "base/clock.h"
#include "base/vec.h"
#include "measure/waiting.h"

/* 1 ms at first, and a thousandth of the time so far: a long run needs no more looks for the same interval. */
enum { LOOK_LEAST_NS = 1000000, LOOK_PART = 1000, PROCESSES_MOST = 64 };

struct seen_thread {
	pid_t tid;
	uint64_t delay_ns; /* ready, but on no CPU: of the last look */
};

struct looking {
	pid_t pid;
	struct native_times *times;
	uint64_t began_ns, last_ns;
	double faults_before; /* of the process until its exec */
	VEC(struct seen_thread) threads;
	bool no_delays, failed;
};

/* ---- what a thread waits for ---- */

struct call_row {
	long number;
	enum cause cause;
};

static const struct call_row call_rows[] = {
	{SYS_futex, CAUSE_LOCKS},
	{SYS_flock, CAUSE_LOCKS},
	{SYS_semop, CAUSE_LOCKS},
	{SYS_semtimedop, CAUSE_LOCKS},
	{SYS_nanosleep, CAUSE_SLEEPING},
	{SYS_clock_nanosleep, CAUSE_SLEEPING},
	{SYS_wait4, CAUSE_WAITING},
	{SYS_waitid, CAUSE_WAITING},
	{SYS_rt_sigsuspend, CAUSE_WAITING},
	{SYS_rt_sigtimedwait, CAUSE_WAITING},
	{SYS_restart_syscall, CAUSE_SLEEPING},
	{SYS_read, CAUSE_IO},
	{SYS_write, CAUSE_IO},
	{SYS_readv, CAUSE_IO},
	{SYS_writev, CAUSE_IO},
	{SYS_pread64, CAUSE_IO},
	{SYS_pwrite64, CAUSE_IO},
	{SYS_preadv, CAUSE_IO},
	{SYS_pwritev, CAUSE_IO},
	{SYS_fsync, CAUSE_IO},
	{SYS_fdatasync, CAUSE_IO},
	{SYS_sync, CAUSE_IO},
	{SYS_msync, CAUSE_IO},
	{SYS_openat, CAUSE_IO},
	{SYS_close, CAUSE_IO},
	{SYS_fstat, CAUSE_IO},
	{SYS_statx, CAUSE_IO},
	{SYS_getdents64, CAUSE_IO},
	{SYS_unlinkat, CAUSE_IO},
	{SYS_renameat2, CAUSE_IO},
	{SYS_ppoll, CAUSE_IO},
	{SYS_pselect6, CAUSE_IO},
	{SYS_epoll_pwait, CAUSE_IO},
	{SYS_accept, CAUSE_IO},
	{SYS_accept4, CAUSE_IO},
	{SYS_connect, CAUSE_IO},
	{SYS_sendto, CAUSE_IO},
	{SYS_recvfrom, CAUSE_IO},
	{SYS_sendmsg, CAUSE_IO},
	{SYS_recvmsg, CAUSE_IO},
	{SYS_sendfile, CAUSE_IO},
	{SYS_splice, CAUSE_IO},
	{SYS_copy_file_range, CAUSE_IO},
	{SYS_io_uring_enter, CAUSE_IO},
#ifdef SYS_poll /* not on newer architectures */
	{SYS_poll, CAUSE_IO},
	{SYS_select, CAUSE_IO},
	{SYS_epoll_wait, CAUSE_IO},
	{SYS_open, CAUSE_IO},
	{SYS_stat, CAUSE_IO},
	{SYS_lstat, CAUSE_IO},
	{SYS_unlink, CAUSE_IO},
	{SYS_rename, CAUSE_IO},
	{SYS_pause, CAUSE_WAITING},
#endif
	{-1, CAUSE_IO}, /* a page that is being read from its file */
};

enum cause native_cause_of(long number)
{
	for (size_t i = 0; i < sizeof call_rows / sizeof *call_rows; i++)
		if (call_rows[i].number == number)
			return call_rows[i].cause;
	return CAUSE_WAITING;
}

/* ---- looking ---- */

/* The first bytes of a small file of /proc; false: the thread is gone, or it may not be read. */
static bool read_small(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void keep_delay(struct looking *l, pid_t pid, pid_t tid)
{
	char path[64], text[128];
	unsigned long long ran, delay;
	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	if (!read_small(path, text, sizeof text) || sscanf(text, "%llu %llu", &ran, &delay) != 2) {
		l->no_delays |= access("/proc/self/schedstat", R_OK) != 0;
		return;
	}
	for (size_t i = 0; i < l->threads.count; i++)
		if (l->threads.items[i].tid == tid) {
			l->threads.items[i].delay_ns = delay;
			return;
		}
	l->failed |= !vec_push(&l->threads, ((struct seen_thread){tid, delay}));
}

/* pthread_join(3) is also a futex(2): on the other thread's number, which is there as long as that lives. */
static bool waits_for_thread(pid_t pid, const char *syscall)
{
	char path[64];
	unsigned long long value;
	if (sscanf(syscall, "%*s %*s %*s %llx", &value) != 1 || value <= 1 || value > INT_MAX)
		return false;
	snprintf(path, sizeof path, "/proc/%d/task/%llu", (int)pid, value);
	return access(path, F_OK) == 0;
}

bool native_look(pid_t pid, pid_t tid, long *call)
{
	char path[64], text[256];
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	if (!read_small(path, text, sizeof text) || (text[0] != '-' && !isdigit((unsigned char)text[0])))
		return false;
	*call = strtol(text, NULL, 10);
	if (native_cause_of(*call) == CAUSE_LOCKS && waits_for_thread(pid, text))
		*call = NATIVE_JOINING;
	return true;
}

static void look_at_thread(struct looking *l, pid_t pid, pid_t tid, double dt)
{
	char path[64], text[256];
	struct native_times *t = l->times;
	keep_delay(l, pid, tid);
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	errno = 0;
	if (!read_small(path, text, sizeof text)) {
		/* ENOENT: the thread has ended, or this kernel has no such file */
		t->no_calls |= errno == EACCES || errno == EPERM ||
			       (errno == ENOENT && access("/proc/self/syscall", F_OK) != 0);
		return;
	}
	t->looks++;
	if (text[0] != '-' && !isdigit((unsigned char)text[0])) {
		t->running++;
		return;
	}
	enum cause cause = native_cause_of(strtol(text, NULL, 10));
	t->waits[cause == CAUSE_LOCKS && waits_for_thread(pid, text) ? CAUSE_WAITING : cause]++;
	t->dt_waiting += dt;
}

/* The number behind a name, in bytes; NAN: there is none. */
static double status_bytes(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? 1024 * strtod(at + strlen(name), NULL) : NAN;
}

/* What the process has had in memory; of its present program alone, other than getrusage(2) says. Faults are read
 * first: what they brought in is in what is read behind them. */
static void look_at_memory(struct looking *l)
{
	struct memory_seen *m = &l->times->memory;
	char path[64], stat[1024], text[4096];
	unsigned long long faults;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)l->pid);
	if (!read_small(path, stat, sizeof stat))
		return;
	snprintf(path, sizeof path, "/proc/%d/status", (int)l->pid);
	/* its name may have anything in it but a second ')' behind it (proc_pid_stat(5)) */
	const char *at = strrchr(stat, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %llu", &faults) != 1 ||
	    !read_small(path, text, sizeof text))
		return;
	double resident = status_bytes(text, "\nVmHWM:"), mapped = status_bytes(text, "\nVmPeak:"),
	       tables = status_bytes(text, "\nVmPTE:");
	/* a process that has ended has no memory any more */
	if (isnan(resident) || isnan(mapped))
		return;
	m->faults = fmax((double)faults - l->faults_before, 0);
	m->resident_most_bytes = resident;
	m->mapped_most_bytes = mapped;
	/* a table is a page of words, one for each page that it maps */
	double page = (double)sysconf(_SC_PAGESIZE);
	m->tables_bytes = fmax(m->tables_bytes, isnan(tables) ? 0 : tables / sizeof(uint64_t) * page);
}

/* Appends the children of the process's threads. */
static size_t add_children(pid_t pid, pid_t tid, pid_t *processes, size_t n)
{
	char path[64], text[4096], *at = text, *end;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
	if (!read_small(path, text, sizeof text))
		return n;
	for (long child = strtol(at, &end, 10); end != at && n < PROCESSES_MOST; child = strtol(at, &end, 10)) {
		processes[n++] = (pid_t)child;
		at = end;
	}
	return n;
}

static void look(struct looking *l, uint64_t now_ns)
{
	pid_t processes[PROCESSES_MOST] = {l->pid};
	size_t n = 1, threads = 0;
	double dt = 1e-9 * (double)(now_ns - l->last_ns);
	l->last_ns = now_ns;
	look_at_memory(l);
	for (size_t i = 0; i < n; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/task", (int)processes[i]);
		DIR *folder = opendir(path);
		struct dirent *entry;
		while (folder && (entry = readdir(folder))) {
			pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
			if (tid <= 0)
				continue;
			threads++;
			look_at_thread(l, processes[i], tid, dt);
			n = add_children(processes[i], tid, processes, n);
		}
		if (folder)
			closedir(folder);
	}
	if (threads > l->times->threads_most)
		l->times->threads_most = threads;
	l->times->several_processes |= n > 1;
}

static void tick(void *context, uint64_t now_ns, uint64_t *tick_ns)
{
	struct looking *l = context;
	uint64_t gap_ns = (now_ns - l->began_ns) / LOOK_PART;
	look(l, now_ns);
	*tick_ns = gap_ns > LOOK_LEAST_NS ? gap_ns : LOOK_LEAST_NS;
}

/* ---- running ---- */

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static void take_usage(struct native_times *t, const struct rusage *usage, const struct rusage *before)
{
	/* what the held process used before its exec is tare's doing */
	t->user_s = fmax(seconds(usage->ru_utime) - seconds(before->ru_utime), 0);
	t->system_s = fmax(seconds(usage->ru_stime) - seconds(before->ru_stime), 0);
	t->page_faults = fmax((double)(usage->ru_minflt - before->ru_minflt), 0);
	t->major_faults = fmax((double)(usage->ru_majflt - before->ru_majflt), 0);
}

bool native_run(const struct command *command, const volatile sig_atomic_t *interrupt, struct native_times *out,
		int *status, struct error *err)
{
	const struct clock clock = clock_monotonic();
	struct launch launch;
	struct waiter waiter;
	struct waited waited = {0};
	const struct target target = {.kind = TARGET_COMMAND, .command = command};
	*out = (struct native_times){.threads_most = 1, .memory = {.faults = NAN}};
	struct looking looking = {.times = out};
	if (!launch_hold(command, &launch, err))
		return false;
	waiter_open(&waiter, interrupt, &clock);
	looking.pid = launch.pid;
	looking.began_ns = looking.last_ns = clock_now_ns(&clock);
	bool done = launch_go(&launch, command, err);
	looking.faults_before = (double)launch.before.ru_minflt;
	if (done) {
		wait_until(&waiter,
			   &(struct wait_for){.process = launch.pid,
					      .target = &target,
					      .tick_ns = LOOK_LEAST_NS,
					      .tick = tick,
					      .context = &looking},
			   &waited);
		out->elapsed_s = 1e-9 * (double)(clock_now_ns(&clock) - looking.began_ns);
		if (waited.interrupted)
			done = error_set(err, ERROR_SYSTEM, "interrupted");
		else if (!waited.ended)
			done = error_set(err, ERROR_SYSTEM, "the program's end went to another process");
		else
			take_usage(out, &waited.usage, &launch.before);
	}
	waiter_close(&waiter);
	launch_abandon(&launch);
	double delay_s = 0;
	for (size_t i = 0; i < looking.threads.count; i++)
		delay_s += 1e-9 * (double)looking.threads.items[i].delay_ns;
	/* a program that ended before the first look was not seen waiting: nothing is known */
	out->not_running_s = looking.no_delays || !looking.threads.count ? NAN : delay_s;
	vec_free(&looking.threads);
	*status = waited.status;
	return done && (!looking.failed || error_no_memory(err));
}

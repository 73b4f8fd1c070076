/*
 * Serves the requests of the record's queue: before a measured process execs, its runtime asks to be followed.
 *
 *     ASK_EXEC ──► (share.h) ──► a worker (workers.h) seizes the asking thread ──► GRANTED ──► the thread's execve
 *                                                                             ├─ succeeded: new entry, runtime put in, detached
 *                                                                             └─ failed, or given up: detached
 *
 *     ASK_OWN ──► a worker takes the record that the process has made (own.h) ──► GRANTED; the worker is that record's attendant
 *
 *     ASK_FUNCTIONS ──► the functions of a module's file are put into the record (injection.c) ──► NONE
 *     ASK_CALLER ──► where the caller of a place in such a file goes on, likewise ──► NONE
 *     ASK_COUNTS ──► the answerer, one worker for all of these, answers what the program's libtare asks (injection.c) ──► NONE
 *     ASK_FOLD ──► a worker folds what is due (injection.c) ──► NONE
 *
 * What always holds:
 *  1. A process is traced from its request to the end of its execve and at no other time, so that programs which
 *     trace others, stop and continue behave as natively.
 *  2. A worker has one request at a time: an execve that blocks delays nobody else's. Counts alone are asked of
 *     one worker, one question after the other: it keeps what it has learned of the programs' code.
 *  3. A program that cannot be taken over runs natively; then its entry, or that of the process it was, is marked
 *     inexact.
 *  4. Signals meant for tare's process group do not end the attendant; its parent does, or its parent's death:
 *     then it says so in the record, and programs that wait for it go on without. Should it be killed, the kernel
 *     says so.
 *  5. A worker that is killed while it puts the runtime in takes the program with it: half of it would run as
 *     something else.
 */
#include "engine/inject/attendant.h"

#include "engine/inject/own.h"
#include "engine/inject/privileges.h"
#include "engine/inject/workers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static long futex(uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void answer(struct record_process *process, uint32_t ask)
{
	__atomic_store_n(&process->ask, ask, __ATOMIC_RELEASE);
	futex(&process->ask, FUTEX_WAKE, 1);
}

/* The thread's current system call; op is PTRACE_SYSCALL_INFO_NONE when it is in none. */
static struct __ptrace_syscall_info call_info(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};
	ptrace((enum __ptrace_request)PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof info, &info);
	return info;
}

static void read_text(pid_t tid, uint64_t address, char *out, size_t size)
{
	size_t have = 0;
	while (have < size - 1) { /* page by page: the text may end just before unmapped memory */
		size_t most = 4096 - ((address + have) & 4095);
		struct iovec local = {out + have, most < size - 1 - have ? most : size - 1 - have};
		struct iovec remote = {(void *)(address + have), local.iov_len};
		ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		if (got <= 0)
			break;
		have += (size_t)got;
		if (memchr(local.iov_base, 0, (size_t)got))
			return;
	}
	out[have] = 0;
}

/* Why the file gives the process privileges that the kernel withholds from a traced one; NULL when it does not. */
static const char *raises_privileges(pid_t tid, const struct __ptrace_syscall_info *info)
{
	char name[4096], path[4200];
	bool at = info->entry.nr == SYS_execveat;
	read_text(tid, info->entry.args[at ? 1 : 0], name, sizeof name);
	if (name[0] == '/')
		snprintf(path, sizeof path, "/proc/%d/root%s", (int)tid, name);
	else if (at && (int)info->entry.args[0] != AT_FDCWD)
		snprintf(path, sizeof path, "/proc/%d/fd/%d%s%s", (int)tid, (int)info->entry.args[0],
			 name[0] ? "/" : "", name);
	else
		snprintf(path, sizeof path, "/proc/%d/cwd/%s", (int)tid, name);
	/* none: the execve fails too, or what it finds is the kernel's to judge */
	return privileges_of_file(path, tid);
}

/* ---- the process that asks ---- */

/* Is it the record's file that the process has mapped there? Entries are the processes' to write, and so could
 * name any process. */
static bool maps_record(const struct takeover *how, pid_t pid, uint64_t at)
{
	char path[64], line[4400];
	struct stat ours;
	bool mapped = false;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *file = fstat(how->fd, &ours) == 0 ? fopen(path, "re") : NULL;
	while (file && fgets(line, sizeof line, file)) {
		uint64_t low, high, inode;
		unsigned major_number, minor_number;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64, &low, &high, &major_number,
			   &minor_number, &inode) != 5 ||
		    low != at)
			continue;
		mapped = inode == ours.st_ino && makedev(major_number, minor_number) == ours.st_dev;
		break;
	}
	if (file)
		fclose(file);
	return mapped;
}

/* Has the process this record mapped where that entry says? Numbers of processes mean others in other
 * namespaces. */
static bool has_record(const struct takeover *how, const struct record_process *process, pid_t pid)
{
	uint64_t token = 0, at;
	uint32_t parent;
	while (!(at = __atomic_load_n(&process->record_at, __ATOMIC_RELAXED)) && process->forked &&
	       (parent = __atomic_load_n(&process->parent, __ATOMIC_RELAXED)) <
		       (uint32_t)(process - how->processes))
		process = &how->processes[parent];
	struct iovec local = {&token, sizeof token},
		     remote = {(void *)(at + offsetof(struct record_head, token)), sizeof token};
	return at && process_vm_readv(pid, &local, 1, &remote, 1, 0) == sizeof token && token == how->token &&
	       maps_record(how, pid, at);
}

/* The last number of the line `field` of a status file: what the process itself sees. */
static long innermost(const char *path, const char *field)
{
	char line[256];
	long number = -1;
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, field, strlen(field))) {
			char *last = strrchr(line, '\t');
			number = last ? strtol(last + 1, NULL, 10) : -1;
		}
	if (file)
		fclose(file);
	return number;
}

/* The asking thread as this process numbers it; 0 when it cannot be found. */
static pid_t asking_thread(const struct takeover *how, const struct record_process *process)
{
	char path[96];
	struct dirent *entry;
	pid_t found = 0;
	if (has_record(how, process, (pid_t)process->ask_tid))
		return (pid_t)process->ask_tid;
	DIR *all = opendir("/proc");
	while (all && !found && (entry = readdir(all))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
		if (pid <= 0 || innermost(path, "NStgid:") != (long)process->pid || !has_record(how, process, pid))
			continue;
		snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
		DIR *tasks = opendir(path);
		while (tasks && !found && (entry = readdir(tasks))) {
			pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
			snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
			if (tid > 0 && innermost(path, "NSpid:") == (long)process->ask_tid)
				found = tid;
		}
		if (tasks)
			closedir(tasks);
	}
	if (all)
		closedir(all);
	return found;
}

/* ---- following ---- */

/* Seizes the thread. Another worker may still trace it: that of a request which the process gave up (a signal came
 * in between) and makes again; it lets go at the thread's next system call, the one that wakes us. */
static bool seize(pid_t tid)
{
	for (int tries = 0; tries < 200; tries++) {
		if (ptrace((enum __ptrace_request)PTRACE_SEIZE, tid, NULL,
			   (void *)(long)TAKEOVER_PTRACE_OPTIONS) == 0)
			return ptrace((enum __ptrace_request)PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
		if (errno != EPERM)
			return false;
		usleep(500);
	}
	errno = EPERM;
	return false;
}

/* From the seizing to the end of the execve. True: the thread was let go as was meant, nothing is left of it. */
static bool follow(const struct takeover *how, uint32_t index)
{
	struct record_process *process = &how->processes[index];
	pid_t tid = asking_thread(how, process);
	struct error err = {0};
	bool granted = false, in_exec = false;
	int status;
	if (tid == 0) {
		takeover_inexact(
			process,
			"the program it execs could not be followed: the process cannot be found from here");
		answer(process, RECORD_ASK_REFUSED);
		return false;
	}
	if (!seize(tid)) {
		takeover_inexact(process, "the program it execs could not be followed: %s",
				 errno == EPERM ? "another process traces it, or it has other rights"
						: strerror(errno));
		answer(process, RECORD_ASK_REFUSED);
		return false;
	}
	/* any: an execve of a thread other than the first gives the process another number to wait for */
	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
		if (pid < 0)
			continue;
		if (!WIFSTOPPED(status))
			return false;
		if (!granted) {
			granted = true;
			answer(process, RECORD_ASK_GRANTED);
		}
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			uint32_t entry;
			ptrace((enum __ptrace_request)PTRACE_SETOPTIONS, pid, NULL,
			       (void *)(long)(TAKEOVER_PTRACE_OPTIONS | PTRACE_O_EXITKILL));
			if (takeover_at_exec(how, pid, index, &entry, &err))
				return true;
			if (err.code == ERROR_NOT_FOUND)
				return false; /* it ended meanwhile, before its first instruction */
			takeover_inexact(&how->processes[entry == RECORD_NONE ? index : entry],
					 "runs natively, not counted: %s", err.text);
			__atomic_store_n(&how->processes[entry == RECORD_NONE ? index : entry].state,
					 RECORD_EXECED, __ATOMIC_RELEASE);
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
			return false;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (!in_exec && __atomic_load_n(&process->ask, __ATOMIC_ACQUIRE) != RECORD_ASK_GRANTED) {
				ptrace(PTRACE_DETACH, pid, NULL, NULL); /* given up */
				return false;
			}
			struct __ptrace_syscall_info info = call_info(pid);
			if (info.op == PTRACE_SYSCALL_INFO_ENTRY &&
			    (info.entry.nr == SYS_execve || info.entry.nr == SYS_execveat)) {
				in_exec = true;
				const char *raises = raises_privileges(pid, &info);
				if (raises) {
					takeover_inexact(
						process,
						"the program that it execs runs natively, not counted: %s",
						raises);
					__atomic_store_n(&process->state, RECORD_EXECED, __ATOMIC_RELEASE);
					ptrace(PTRACE_DETACH, pid, NULL, NULL);
					return false;
				}
			} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && in_exec) {
				return ptrace(PTRACE_DETACH, pid, NULL, NULL) == 0; /* it failed */
			}
		}
		takeover_pass(pid, status, PTRACE_SYSCALL);
	}
	return false;
}

static void serve_own(const struct takeover *how, uint32_t index, pid_t parent);

/* No process is left that could ask. */
static bool all_ended(const struct takeover *how)
{
	uint32_t count = __atomic_load_n(&how->record->process_count, __ATOMIC_ACQUIRE), ended = 0;
	for (uint32_t i = 0; i < count && i < RECORD_PROCESSES_MAX; i++) {
		uint32_t state = __atomic_load_n(&how->processes[i].state, __ATOMIC_ACQUIRE);
		ended += state == RECORD_FREE || state > RECORD_RUNNING;
	}
	return count > 0 && ended == count;
}

/* Forks the answerer, which ends with the attendant. Returns the pipe into which the numbers of those that ask are
 * written; -1: there is none. */
static int start_answerer(const struct takeover *how, const struct attendant_duties *duties)
{
	int ends[2];
	uint32_t index;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		signal(SIGCHLD, SIG_DFL);
		signal(SIGRTMAX, SIG_IGN); /* what it has begun it ends */
		while (read(ends[0], &index, sizeof index) == sizeof index) {
			duties->answer(duties->arg, index);
			answer(&how->processes[index], RECORD_ASK_NONE);
		}
		_exit(0);
	}
	close(ends[0]);
	if (pid > 0)
		return ends[1];
	close(ends[1]);
	return -1;
}

/* False: nobody will answer. */
static bool pass_on(const struct takeover *how, const struct attendant_duties *duties, int *answerer,
		    uint32_t index)
{
	if (*answerer < 0)
		*answerer = start_answerer(how, duties);
	if (*answerer >= 0 && write(*answerer, &index, sizeof index) == sizeof index)
		return true;
	if (*answerer >= 0)
		close(*answerer); /* it has died: the next question gets another one */
	*answerer = -1;
	return false;
}

/* own: of a record of one process and its children, with which it ends. */
static void serve(struct takeover *how, const struct attendant_duties *duties, bool own)
{
	struct share share = {.socket = -1};
	struct record_head *record = how->record;
	const struct timespec patience = {1, 0};
	int answerer = -1;
	struct workers workers;
	workers_open(&workers);
	for (uint32_t seen = 0;;) {
		uint32_t requests = __atomic_load_n(&record->requests, __ATOMIC_ACQUIRE);
		if (requests == seen) {
			syscall(SYS_futex, &record->requests, FUTEX_WAIT, requests, own ? &patience : NULL, NULL,
				0);
			if (own && __atomic_load_n(&record->requests, __ATOMIC_ACQUIRE) == seen && all_ended(how))
				return;
			continue;
		}
		uint32_t *slot = &record->queue[seen % RECORD_QUEUE];
		uint32_t index = __atomic_exchange_n(slot, 0, __ATOMIC_ACQ_REL);
		if (index == 0) { /* its ticket is taken, its number not yet written */
			usleep(20);
			continue;
		}
		seen++;
		if (index > RECORD_PROCESSES_MAX)
			continue;
		struct record_process *process = &how->processes[index - 1];
		uint32_t ask = __atomic_load_n(&process->ask, __ATOMIC_ACQUIRE);
		bool folding = ask == RECORD_ASK_FOLD, answering = ask == RECORD_ASK_COUNTS;
		if (ask == RECORD_ASK_FUNCTIONS) { /* here: what was read of a file is kept */
			if (duties->functions)
				duties->functions(duties->arg, index - 1);
			answer(process, RECORD_ASK_NONE);
			continue;
		}
		if (ask == RECORD_ASK_CALLER) {
			if (duties->caller)
				duties->caller(duties->arg, index - 1);
			answer(process, RECORD_ASK_NONE);
			continue;
		}
		if ((folding && !duties->fold) || (answering && !duties->answer)) {
			answer(process, RECORD_ASK_NONE);
			continue;
		}
		if (answering) {
			if (!pass_on(how, duties, &answerer, index - 1))
				answer(process, RECORD_ASK_NONE);
			continue;
		}
		if (ask == RECORD_ASK_EXEC && duties->share) {
			int image = how->image_fd;
			share_look(&share, how, duties->share, duties->arg);
			if (how->image_fd != image)
				workers_renew(&workers);
		}
		if (ask == RECORD_ASK_EXEC && workers_give(&workers, index - 1))
			continue;
		struct worker_end end = {.pipe = -1};
		pid_t self = getpid(), worker = ask == RECORD_ASK_EXEC ? workers_fork(&workers, &end) : fork();
		if (worker == 0 && answerer >= 0)
			close(answerer);
		if (worker == 0 && ask == RECORD_ASK_OWN) {
			workers_forget(&workers);
			serve_own(how, index - 1, self);
			_exit(0);
		}
		if (worker == 0) {
			signal(SIGCHLD, SIG_DFL);
			signal(SIGRTMAX, SIG_IGN); /* what it has begun it ends */
			if (folding) {
				duties->fold(duties->arg);
				answer(process, RECORD_ASK_NONE);
				_exit(0);
			}
			for (uint32_t next = index - 1; follow(how, next) && workers_next(&end, &next);)
				continue;
			_exit(0);
		}
		if (worker < 0 && folding) {
			/* a part stays whole: the next one sees it again */
			answer(process, RECORD_ASK_NONE);
			continue;
		}
		if (worker < 0) {
			takeover_inexact(&how->processes[index - 1],
					 "the program it execs could not be followed: %s", strerror(errno));
			answer(&how->processes[index - 1], RECORD_ASK_REFUSED);
		}
	}
}

/* Whatever ends this process, the kernel says so in the record: SIGKILL leaves it no time to do that itself. */
static void show_life(struct record_head *record)
{
	static struct robust_list entry;
	static struct robust_list_head head;
	head.list.next = &entry;
	entry.next = &head.list;
	head.futex_offset = (long)((char *)&record->attendant_life - (char *)&entry);
	__atomic_store_n(&record->attendant_life, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	syscall(SYS_set_robust_list, &head, sizeof head);
}

/* The one thing that a signal handler of the attendant's own process needs; no other process sees it set. */
static struct record_head *served;

/* tare is gone: programs that wait for an answer find that nobody serves them any more, and go on natively. */
static void leave(int signal)
{
	(void)signal;
	__atomic_store_n(&served->attendant_pid, 0, __ATOMIC_RELEASE);
	_exit(0);
}

/* Closes all but these descriptors, in ascending order. */
static void close_but(const int *keep, size_t n)
{
	unsigned from = 0;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned)keep[i] > from)
			close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	close_range(from, ~0u, 0);
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The attendant of a record attends to it as long as it is used. */
static void serve_own(const struct takeover *how, uint32_t index, pid_t parent)
{
	struct record_process *process = &how->processes[index];
	pid_t tid = asking_thread(how, process);
	struct takeover own;
	bool taken = tid > 0 && how->own_socket >= 0 && own_take(how, index, tid, &own);
	if (taken) {
		served = own.record;
		show_life(own.record);
		prctl(PR_SET_PDEATHSIG, SIGRTMAX, 0, 0, 0);
		if (getppid() != parent)
			leave(0);
		__atomic_store_n(&own.record->attendant_pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	}
	answer(process, taken ? RECORD_ASK_GRANTED : RECORD_ASK_REFUSED);
	if (!taken)
		return;
	close(how->fd);
	munmap(how->record, RECORD_SPACE_OFFSET);
	static const struct attendant_duties none;
	serve(&own, &none, true);
	__atomic_store_n(&own.record->attendant_pid, 0, __ATOMIC_RELEASE);
}

pid_t attendant_start(const struct takeover *how, const struct attendant_duties *duties)
{
	pid_t parent = getpid(), pid = fork();
	if (pid)
		return pid;
	served = how->record;
	for (int s = 1; s < NSIG; s++)
		/* none that comes to a whole group; SIGCHLD ignored: workers need no reaping */
		signal(s, s == SIGRTMAX ? leave : SIG_IGN);
	show_life(how->record);
	prctl(PR_SET_PDEATHSIG, SIGRTMAX, 0, 0, 0);
	prctl(PR_SET_NAME, "tare-attendant", 0, 0, 0);
	if (getppid() != parent)
		leave(0);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	struct takeover mine = *how;
	int keep[] = {mine.fd, mine.image_fd, mine.own_socket};
	qsort(keep, 3, sizeof *keep, ascending);
	close_but(keep, 3);
	serve(&mine, duties, false);
	_exit(0);
}

#include "backend/perf/probe/trace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_tracefs(void)
{
	int folder = open("/sys/kernel/tracing", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && faccessat(folder, "uprobe_events", W_OK, AT_EACCESS) == 0)
		return folder;
	if (folder >= 0)
		close(folder);
	folder = -1;
	int context = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		folder = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (context >= 0)
		close(context);
	return folder;
}

static bool command(int folder, const char *text)
{
	int file = openat(folder, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
	if (file >= 0)
		close(file);
	return done;
}

/* 0: it is not known. */
static unsigned long long pid_namespace(void)
{
	struct stat of;
	return stat("/proc/self/ns/pid", &of) == 0 ? (unsigned long long)of.st_ino : 0;
}

/* Without randomness the group gets no name: it might be one that was used before. */
static void name_group(char group[TRACE_GROUP_BYTES])
{
	unsigned long long random;
	group[0] = '\0';
	if (getrandom(&random, sizeof random, 0) == (ssize_t)sizeof random)
		snprintf(group, TRACE_GROUP_BYTES, "tare_%llu_%d_%016llx", pid_namespace(), (int)getpid(), random);
}

bool trace_is_left_over(const char *line, char *name, size_t size)
{
	unsigned long long made_in, here = pid_namespace();
	int pid, end = 0;
	if (sscanf(line, "p:tare_%llu_%d_%*16[0-9a-f]/p_%*u%n", &made_in, &pid, &end) != 2 || !end ||
	    line[end] != ' ' || !here || made_in != here || pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	return (size_t)snprintf(name, size, "%.*s", end - 2, line + 2) < size;
}

static bool is_of_group(const char *line, const char *group, char *name, size_t size)
{
	size_t length = strlen(group);
	return strncmp(line, "p:", 2) == 0 && strncmp(line + 2, group, length) == 0 && line[2 + length] == '/' &&
	       (size_t)snprintf(name, size, "%.*s", (int)strcspn(line + 2, " "), line + 2) < size;
}

/* Of a group, or of processes that have ended (NULL). False: some were there. More may be: the kernel shows the
 * list in pieces, by the numbers of its lines, and each that is removed renumbers those behind it. */
static bool remove_all(int folder, const char *group)
{
	int fd = openat(folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[PATH_MAX + 128], name[128], text[160];
	bool none = true;
	while (file && fgets(line, sizeof line, file)) {
		if (group ? !is_of_group(line, group, name, sizeof name)
			  : !trace_is_left_over(line, name, sizeof name))
			continue;
		none = false;
		snprintf(text, sizeof text, "-:%s\n", name);
		command(folder, text);
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return none;
}

/* 0: it is not there. */
static uint64_t id_of(const struct trace_probes *trace, size_t number)
{
	char path[128], text[32] = "";
	snprintf(path, sizeof path, "events/%s/p_%zu/id", trace->group, number);
	int file = openat(trace->folder, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t got = read(file, text, sizeof text - 1);
	close(file);
	return got > 0 ? strtoull(text, NULL, 10) : 0;
}

static bool plain(const char *path)
{
	for (; *path; path++)
		if (isspace((unsigned char)*path) || *path == ':' || *path == ';' || *path == '"' ||
		    *path == '\\' || *path == '#')
			return false;
	return true;
}

/* ---- the process that removes them when this one cannot ---- */

static bool close_others(int a, int b)
{
	int first = a < b ? a : b, second = a < b ? b : a;
	return (first == 0 || close_range(0, (unsigned)first - 1, 0) == 0) &&
	       (second == first + 1 || close_range((unsigned)first + 1, (unsigned)second - 1, 0) == 0) &&
	       close_range((unsigned)second + 1, ~0u, 0) == 0;
}

/* A follower (follow.c) closes its counters of them a moment after the end of tare. With descriptors of others
 * this process would keep open what they wait for the end of. */
static _Noreturn void sweep(const struct trace_probes *trace, int parent)
{
	enum { TRIES = 200, WAIT_MS = 50 };
	struct pollfd end = {.fd = parent, .events = POLLIN};
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid(); /* what ends tare's process group ends tare alone */
	if (close_others(trace->folder, parent) && poll(&end, 1, -1) == 1)
		for (int i = 0; i < TRIES && !remove_all(trace->folder, trace->group); i++)
			poll(NULL, 0, WAIT_MS);
	_exit(0);
}

/* Its pidfd; -1: there is none, and the next process removes what this one leaves. No signal tells of its end. */
static int sweeper_begin(const struct trace_probes *trace)
{
	int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
	pid_t process = parent >= 0 ? (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL) : -1;
	if (process == 0)
		sweep(trace, parent);
	if (parent >= 0)
		close(parent);
	return process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
}

static void sweeper_end(int sweeper)
{
	siginfo_t end;
	if (sweeper < 0)
		return;
	bool ends = syscall(SYS_pidfd_send_signal, sweeper, SIGKILL, NULL, 0) == 0; /* else with this process */
	while (ends && waitid((idtype_t)P_PIDFD, (id_t)sweeper, &end, WEXITED | __WALL) != 0 && errno == EINTR)
		;
	close(sweeper);
}

void trace_probes_open(struct trace_probes *trace)
{
	enum { PASSES = 8 }; /* one that is counted stays */
	*trace = (struct trace_probes){.folder = open_tracefs(), .sweeper = -1};
	name_group(trace->group);
	if (trace->folder < 0)
		return;
	for (int i = 0; i < PASSES && !remove_all(trace->folder, NULL); i++)
		;
	if (trace->group[0])
		trace->sweeper = sweeper_begin(trace);
}

void trace_probes_define(struct trace_probes *trace, struct probe_place *probes, size_t n)
{
	for (size_t i = 0; trace->folder >= 0 && trace->group[0] && i < n; i++) {
		struct probe_place *p = &probes[i];
		char text[PATH_MAX + 128];
		size_t number = trace->n;
		if (p->trace_id)
			continue;
		int used = snprintf(text, sizeof text, "p:%s/p_%zu %s:0x%llx\n", trace->group, number, p->module,
				    (unsigned long long)p->offset);
		if (!plain(p->module) || used >= (int)sizeof text)
			break;
		trace->n++; /* its name is spent, whatever becomes of it */
		if (!command(trace->folder, text))
			break;
		p->trace_id = id_of(trace, number);
	}
}

void trace_probes_remove(struct trace_probes *trace)
{
	char text[128];
	if (trace->folder < 0)
		return;
	for (size_t i = 0; i < trace->n; i++) {
		snprintf(text, sizeof text, "-:%s/p_%zu\n", trace->group, i);
		command(trace->folder, text);
	}
	sweeper_end(trace->sweeper);
	close(trace->folder);
}

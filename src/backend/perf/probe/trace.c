#include "backend/perf/probe/trace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
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

/* "p:tare_123/p_0 /file:0x…" of a process that is no more. */
static void remove_stale(int folder)
{
	int fd = openat(folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[PATH_MAX + 128], text[128];
	while (file && fgets(line, sizeof line, file)) {
		int pid, number;
		if (sscanf(line, "p:tare_%d/p_%d ", &pid, &number) != 2 || pid <= 0 || kill(pid, 0) == 0 ||
		    errno != ESRCH)
			continue;
		snprintf(text, sizeof text, "-:tare_%d/p_%d\n", pid, number);
		command(folder, text);
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

/* 0: it is not there. */
static uint64_t id_of(int folder, int pid, size_t number)
{
	char path[128], text[32] = "";
	snprintf(path, sizeof path, "events/tare_%d/p_%zu/id", pid, number);
	int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
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

void trace_probes_open(struct trace_probes *trace)
{
	*trace = (struct trace_probes){.folder = open_tracefs()};
	if (trace->folder >= 0)
		remove_stale(trace->folder);
}

void trace_probes_define(struct trace_probes *trace, struct probe_place *probes, size_t n)
{
	for (size_t i = 0; trace->folder >= 0 && i < n; i++) {
		struct probe_place *p = &probes[i];
		char text[PATH_MAX + 128];
		int used = snprintf(text, sizeof text, "p:tare_%d/p_%zu %s:0x%llx\n", (int)getpid(), trace->n,
				    p->module, (unsigned long long)p->offset);
		if (!plain(p->module) || used >= (int)sizeof text || !command(trace->folder, text))
			break;
		p->trace_id = id_of(trace->folder, getpid(), trace->n++);
	}
}

void trace_probes_remove(struct trace_probes *trace)
{
	char text[128];
	for (size_t i = 0; i < trace->n; i++) {
		snprintf(text, sizeof text, "-:tare_%d/p_%zu\n", (int)getpid(), i);
		command(trace->folder, text);
	}
	if (trace->folder >= 0)
		close(trace->folder);
}

/* Probes that stay registered between executions, held by counters of a process that is gone. Needs uprobes (root)
 * and tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/probe/kept.h"
#include "backend/perf/probe/places.h"
#include "tap.h"

/* Never executed here: the places are in copies of this program. */
extern const char place_first[] __attribute__((visibility("hidden"))),
	place_second[] __attribute__((visibility("hidden")));
__asm__(".text\n.balign 16\nplace_first:\n"
#if defined(__x86_64__)
	"add $1, %rax\nplace_second:\nadd $1, %rax\nret\n"
#else
	"add x1, x1, #1\nplace_second:\nadd x1, x1, #1\nret\n"
#endif
);

static bool offset_of(const char *address, uint64_t *offset)
{
	char line[PATH_MAX + 128];
	unsigned long long from, to, start;
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof line, maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &start) == 3 && (uintptr_t)address >= from &&
		    (uintptr_t)address < to) {
			*offset = (uintptr_t)address - from + start;
			found = true;
		}
	if (maps)
		fclose(maps);
	return found;
}

static bool copy(const char *to)
{
	char bytes[65536];
	static time_t copies;
	ssize_t got = -1;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
	    file = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	while (from >= 0 && file >= 0 && (got = read(from, bytes, sizeof bytes)) > 0)
		if (write(file, bytes, (size_t)got) != got)
			break;
	/* two copies have different times, however fast they are made */
	const struct timespec times[] = {{.tv_sec = ++copies}, {.tv_sec = copies}};
	bool done = got == 0 && futimens(file, times) == 0;
	if (from >= 0)
		close(from);
	if (file >= 0)
		close(file);
	return done;
}

/* A program that is held. */
static pid_t held(void)
{
	pid_t child = fork();
	while (child == 0)
		pause();
	return child;
}

static void end(pid_t program)
{
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
}

/* tracefs does not remove an event that is counted. */
static bool is_removed(const struct kept_probes *kept, size_t number)
{
	char text[128];
	snprintf(text, sizeof text, "-:%s/p_%zu\n", kept->trace.group, number);
	int file = openat(kept->trace.folder, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	bool removed = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
	if (file >= 0)
		close(file);
	return removed;
}

struct places {
	struct probe_place two[2];
	struct group_plan plan;
};

static void begin(struct places *p, const char *path, uint64_t first, uint64_t second, uint32_t type)
{
	*p = (struct places){.two = {{.module = path, .offset = first}, {.module = path, .offset = second}}};
	p->plan = (struct group_plan){.probes = p->two, .n_probes = 2, .uprobe_type = type};
}

/* One execution, with counters that are opened and closed. False: they could not be. */
static bool execute(struct kept_probes *kept, struct places *p)
{
	struct probe_group *group = NULL;
	size_t bad;
	pid_t program = held();
	kept_probes_hold(kept, &p->plan);
	bool opened = group_open(&p->plan, program, 1, &group, &bad);
	int reason = errno;
	if (opened)
		kept_probes_checked(kept, &p->plan);
	end(program);
	group_close(group);
	errno = reason;
	return opened;
}

/* The code at the place in a process that has it mapped where this one has. */
static bool is_as_in_file(pid_t process, const char *code, uint64_t offset)
{
	char name[64], is[4], expected[4];
	snprintf(name, sizeof name, "/proc/%d/mem", (int)process);
	int memory = open(name, O_RDONLY | O_CLOEXEC), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool read = memory >= 0 && file >= 0 && pread(memory, is, 4, (off_t)(uintptr_t)code) == 4 &&
		    pread(file, expected, 4, (off_t)offset) == 4;
	if (memory >= 0)
		close(memory);
	if (file >= 0)
		close(file);
	return read && memcmp(is, expected, 4) == 0;
}

/* What is held must not keep the breakpoints of a program that runs on without its probes. */
static void closed_early(const char *path, uint64_t first, uint64_t second, uint32_t type)
{
	static struct kept_probes kept;
	struct places p;
	struct probe_group *group = NULL;
	size_t bad;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char *code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)(first & ~(page - 1)));
	close(file);
	if (!ok(code != MAP_FAILED, "the program's code is mapped"))
		return;
	const char *at = code + first % page;
	pid_t program = held();
	begin(&p, path, first, second, type);
	kept_probes_hold(&kept, &p.plan);
	if (group_open(&p.plan, program, 1, &group, &bad)) {
		ok(!is_as_in_file(program, at, first), "the program has a breakpoint while its counters are open");
		ok(is_as_in_file(getpid(), at, first), "and no other process has it");
		group_close(group);
		ok(is_as_in_file(program, at, first),
		   "when they are closed, the program that still runs has none");
	} else {
		skip(strerror(errno), "the program has a breakpoint while its counters are open");
	}
	end(program);
	kept_probes_free(&kept);
	munmap(code, page);
}

static void executions(const char *path, uint64_t first, uint64_t second, uint32_t type)
{
	static struct kept_probes kept;
	struct places p;
	begin(&p, path, first, second, type);
	if (!execute(&kept, &p)) {
		skip(strerror(errno), "an execution has its probes");
		return;
	}
	uint64_t ids[] = {p.two[0].trace_id, p.two[1].trace_id};
	if (!ids[0]) {
		skip("tracefs cannot be had here", "the next one has the same events");
		kept_probes_free(&kept);
		return;
	}
	ok(ids[0] != ids[1] && ids[1] && !p.two[0].checked,
	   "each place is an event, and is asked about the first time");
	ok(!is_removed(&kept, 0) && !is_removed(&kept, 1),
	   "when the program and its counters are gone, both are still held");

	begin(&p, path, first, second, type);
	ok(execute(&kept, &p) && p.two[0].trace_id == ids[0] && p.two[1].trace_id == ids[1] && p.two[0].checked,
	   "the next execution has the same events, which are known to work");

	/* a primer, as a program that has begun tells it */
	kept_probes_set_primer(&kept, path, first);
	kept_probes_set_primer(&kept, path, second);
	begin(&p, path, first, second, type);
	ok(execute(&kept, &p) && kept.n == 2 && kept.primer.trace_id == ids[1],
	   "a primer at a place that is kept is that event");
	char other[PATH_MAX + 8];
	snprintf(other, sizeof other, "%s-other", path);
	ok(copy(other), "another program");
	struct places q;
	begin(&q, other, first, second, type);
	kept_probes_hold(&kept, &q.plan); /* and is refused: its places are not known to work */
	begin(&p, path, first, second, type);
	execute(&kept, &p);
	begin(&q, other, first, second, type);
	ok(execute(&kept, &q) && kept.n == 4 && q.two[0].trace_id && q.two[0].trace_id != ids[0] &&
		   !q.two[0].checked,
	   "another program's places are others");
	begin(&p, path, first, second, type);
	ok(execute(&kept, &p) && p.two[0].trace_id == ids[0], "programs that take turns are both kept");

	/* the same path, another file: its instructions may be others */
	char group[TRACE_GROUP_BYTES];
	memcpy(group, kept.trace.group, sizeof group);
	ok(copy(other), "the other program is written anew");
	begin(&p, path, first, second, type);
	ok(execute(&kept, &p) && kept.n == 2 && strcmp(group, kept.trace.group) != 0 && !p.two[0].checked &&
		   !kept.primer.module,
	   "when a file was written, all are let go of, and names are new");
	kept_probes_free(&kept);
	ok(kept.n == 0, "in the end none is kept");
	kept_probes_free(&kept); /* also twice */
	unlink(other);
}

/* More than can be kept: each execution makes its own. */
static void many(const char *path, uint64_t first, uint32_t type)
{
	enum { N = PROBES_KEPT + 1 };
	static struct kept_probes kept;
	static struct probe_place places[N];
	for (size_t i = 0; i < N; i++)
		places[i] = (struct probe_place){.module = path, .offset = first, .trace_id = 0};
	struct group_plan plan = {.probes = places, .n_probes = N, .uprobe_type = type};
	kept_probes_hold(&kept, &plan);
	ok(kept.n == 0 && !places[0].trace_id && !places[N - 1].trace_id, "%d places are not kept", (int)N);
	kept_probes_free(&kept);
}

static size_t in_tracefs(int folder, const char *group)
{
	char line[PATH_MAX + 128];
	size_t n = 0, length = strlen(group);
	int fd = openat(folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	while (file && fgets(line, sizeof line, file))
		n += strncmp(line + 2, group, length) == 0 && line[2 + length] == '/';
	if (file)
		fclose(file);
	return n;
}

/* As tare and a follower are: a process that keeps probes, and its child that has them open, too. */
static void killed(const char *path, uint64_t first, uint64_t second, uint32_t type)
{
	int begun[2], go[2];
	struct places p;
	struct probe_place place = {.module = path, .offset = first};
	struct trace_probes own;
	struct kept_probes *kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
					0);
	char byte;
	trace_probes_open(&own);
	trace_probes_define(&own, &place, 1);
	int folder = dup(own.folder);
	trace_probes_remove(&own);
	if (!place.trace_id) {
		skip("tracefs cannot be had here", "what a killed process kept is removed");
		return;
	}
	ok(waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD,
	   "a process that removes its probes has no child of them any more");
	if (!ok(kept != MAP_FAILED && pipe(begun) == 0 && pipe(go) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0,
		"what a killed process leaves comes to this one"))
		return;
	pid_t keeper = fork();
	if (keeper == 0) {
		begin(&p, path, first, second, type);
		kept_probes_hold(kept, &p.plan);
		if (fork() == 0) {
			close(go[1]);
			close(begun[1]);
			while (read(go[0], &byte, 1) < 0)
				;
			_exit(0);
		}
		if (write(begun[1], "b", 1) == 1)
			pause();
		_exit(1);
	}
	close(begun[1]);
	ssize_t got = read(begun[0], &byte, 1);
	ok(got == 1 && kept->n == 2 && in_tracefs(folder, kept->trace.group) == 2, "a process keeps two probes");
	end(keeper);
	poll(NULL, 0, 120); /* for whoever tries at once; nothing depends on it */
	ok(in_tracefs(folder, kept->trace.group) == 2,
	   "when it is killed, they stay while its child has them open");
	close(go[1]);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
	ok(in_tracefs(folder, kept->trace.group) == 0, "when that has ended, too, they are removed");
	close(begun[0]);
	close(go[0]);
	close(folder);
	munmap(kept, sizeof *kept);
}

/* More than the kernel shows of its list at once. */
static void killed_with_many(const char *path, uint64_t first)
{
	enum { N = 80 };
	int begun[2];
	char byte;
	struct trace_probes own,
		*trace = mmap(NULL, sizeof *trace, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!ok(trace != MAP_FAILED && pipe(begun) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0,
		"what a killed process leaves comes to this one"))
		return;
	trace_probes_open(&own);
	int folder = own.folder >= 0 ? dup(own.folder) : -1;
	trace_probes_remove(&own);
	pid_t keeper = fork();
	if (keeper == 0) {
		trace_probes_open(trace);
		for (size_t i = 0; i < N; i++) {
			struct probe_place place = {.module = path, .offset = first};
			trace_probes_define(trace, &place, 1);
		}
		if (write(begun[1], "b", 1) == 1)
			pause();
		_exit(1);
	}
	close(begun[1]);
	bool kept = read(begun[0], &byte, 1) == 1 && folder >= 0 && in_tracefs(folder, trace->group) == N;
	end(keeper);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
	if (kept)
		ok(in_tracefs(folder, trace->group) == 0, "all of %d probes are removed", (int)N);
	else
		skip("tracefs cannot be had here", "all of many probes are removed");
	trace_probes_open(&own); /* which removes them if they are not */
	trace_probes_remove(&own);
	close(begun[0]);
	close(folder);
	munmap(trace, sizeof *trace);
}

int main(void)
{
	char path[PATH_MAX];
	uint64_t first = 0, second = 0;
	uint32_t type;
	struct error err;
	if (!uprobe_type(&type, &err)) {
		skip(err.text, "an execution has its probes");
		return done();
	}
	snprintf(path, sizeof path, "/tmp/kept-probes-%d", (int)getpid());
	if (ok(copy(path) && offset_of(place_first, &first) && offset_of(place_second, &second),
	       "a program to be probed")) {
		many(path, first, type);
		closed_early(path, first, second, type);
		executions(path, first, second, type);
		killed(path, first, second, type);
		killed_with_many(path, first);
	}
	unlink(path);
	return done();
}

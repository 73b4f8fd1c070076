/* Names of probes in tracefs: none is used twice, and only what a dead process of this pid namespace left is removed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/probe/trace.h"
#include "backend/perf/trial/answers.h"
#include "tap.h"

/* The number of a process that is no more. It is not taken again so soon: numbers go round. */
static pid_t dead_process(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return child;
}

static bool left_over(unsigned long long namespace, pid_t process, char *name, size_t size)
{
	char line[256];
	snprintf(line, sizeof line, "p:tare_%llu_%d_0123456789abcdef/p_7 /bin/true:0x0000000000001000\n",
		 namespace, (int)process);
	return trace_is_left_over(line, name, size);
}

static void removed(void)
{
	struct stat of;
	char name[128], expected[128];
	pid_t dead = dead_process();
	if (!ok(stat("/proc/self/ns/pid", &of) == 0, "the pid namespace has a number"))
		return;
	unsigned long long here = of.st_ino;
	snprintf(expected, sizeof expected, "tare_%llu_%d_0123456789abcdef/p_7", here, (int)dead);
	ok(left_over(here, dead, name, sizeof name) && strcmp(name, expected) == 0,
	   "a probe of a process that is no more is left over");
	ok(!left_over(here, getpid(), name, sizeof name), "one of a process that runs is not");
	ok(!left_over(here + 1, dead, name, sizeof name),
	   "nor is one of another pid namespace, whose processes have other numbers");
	ok(!left_over(0, dead, name, sizeof name), "nor is one whose namespace is not known");
	ok(!trace_is_left_over("p:mine/p_7 /bin/true:0x1000\n", name, sizeof name), "nor is anybody else's");
	ok(!left_over(here, dead, name, 10), "a name that is too long for its place is none");
}

/* Neither is counted: two names at one place do no harm. */
static void defined(void)
{
	struct trace_probes traces[2];
	struct probe_place places[2][2];
	struct error silent;
	if (!tracing_answers(&silent)) {
		skip(silent.text, "each probe is an event of its own");
		return;
	}
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 2; j++)
			places[i][j] = (struct probe_place){.module = "/proc/self/exe", .offset = 0x1000};
		trace_probes_open(&traces[i]);
	}
	ok(traces[0].group[0] && traces[1].group[0], "each opening has a name (%s, %s)", traces[0].group,
	   traces[1].group);
	/* not tried with one name: the kernel is not to be harmed */
	if (!ok(strcmp(traces[0].group, traces[1].group) != 0, "and no two of a process have the same one"))
		return;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			trace_probes_define(&traces[i], &places[i][j], 1);
	if (places[0][0].trace_id)
		ok(places[0][0].trace_id != places[0][1].trace_id &&
			   places[0][0].trace_id != places[1][0].trace_id &&
			   places[1][0].trace_id != places[1][1].trace_id && places[1][0].trace_id &&
			   places[1][1].trace_id && traces[0].n == 2 && traces[1].n == 2,
		   "each probe is an event of its own, also at one place");
	else
		skip("tracefs cannot be had here", "each probe is an event of its own");
	for (int i = 0; i < 2; i++)
		trace_probes_remove(&traces[i]);
}

int main(void)
{
	removed();
	defined();
	return done();
}

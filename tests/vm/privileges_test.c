/* What an unprivileged user may count at each kernel.perf_event_paranoid: what is allowed is counted, what is not
 * is said to be forbidden by that very setting, and `tare doctor` says beforehand which is which and which step
 * would help. */
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "tap.h"
#include "vm/counted.h"

enum { NOBODY = 65534 };

static bool set_paranoid(int value)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "w");
	if (!file)
		return false;
	bool done = fprintf(file, "%d\n", value) > 0;
	return fclose(file) == 0 && done;
}

/* Debian's kernel adds 3: nothing for anybody without the capability (Documentation/admin-guide/sysctl/kernel.rst,
 * and Debian's patch "security,perf: Allow further restriction of perf_event_open"). */
static const struct setting {
	int paranoid;
	bool user, kernel, cpus;
} settings[] = {
	{4, false, false, false}, {3, false, false, false}, {2, true, false, false},
	{1, true, true, false},   {0, true, true, true},    {-1, true, true, true},
};

/* The event is counted, or its row says that the setting forbids it. */
static void check_event(const struct counted *c, const char *event, bool allowed, double least, int paranoid)
{
	struct row row = event_row(c, event);
	char reason[64];
	snprintf(reason, sizeof reason, "perf_event_paranoid is %d", paranoid);
	bool right = allowed ? row.known && row.value >= least && strcmp(row.source, "hw") == 0
			     : !row.known && strstr(row.why, reason);
	if (!ok(right, "perf_event_paranoid %d: an unprivileged user's %s %s", paranoid, event,
		allowed ? "are counted" : "are refused, by that setting"))
		printf("# value %.0f, source '%s', why '%s', status %d: %s\n", row.value, row.source, row.why,
		       c->status, c->said);
}

/* Asked for without a level, an event is counted at the level that works, and its row has that level's name. */
static void check_no_level(int paranoid)
{
	struct counted *c = tare_as(NOBODY,
				    (const char *const[]){"count", "-e", "instructions", kernel("empty"), NULL});
	if (!ok(event_row(c, "instructions:u").value == 3 && !row_of(c, "instructions", 0),
		"perf_event_paranoid %d: 'instructions' becomes 'instructions:u', by name", paranoid))
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
}

static void check_cpus(bool allowed, int paranoid)
{
	struct counted *c = tare_as(NOBODY, (const char *const[]){"count", "-a", "-e", "instructions:u",
								  kernel("loop"), "1000", NULL});
	char reason[64];
	snprintf(reason, sizeof reason, "perf_event_paranoid is %d", paranoid);
	struct row row = event_row(c, "instructions:u");
	/* An error, or a row that is not counted: either says why. */
	bool right = allowed ? row.known && row.value >= 2034
			     : !row.known && (c->status == 3 ? strstr(c->said, reason) : strstr(row.why, reason));
	if (!ok(right, "perf_event_paranoid %d: counting whole CPUs %s", paranoid,
		allowed ? "works" : "is refused, by that setting"))
		printf("# value %.0f, status %d: %s\n", row.value, c->status, c->said);
	counted_free(c);
}

/* Samples are allowed where counts are. */
static void check_profile(bool allowed, const char *what, const char *const *arguments, int paranoid)
{
	char reason[64];
	snprintf(reason, sizeof reason, "perf_event_paranoid is %d", paranoid);
	struct counted *c = tare_as(NOBODY, arguments);
	bool right = allowed ? c->status == 0 && strstr(c->said, " sample") && strstr(c->said, ", one each ")
			     : c->status == 3 && strstr(c->said, reason);
	if (!ok(right, "perf_event_paranoid %d: %s %s", paranoid, what,
		allowed ? "are sampled" : "are not sampled, by that setting"))
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
}

static void check_profiles(const struct setting *s)
{
	const char *loop = kernel("loop");
	check_profile(s->user, "an unprivileged user's cycles",
		      (const char *const[]){"profile", "--no-store", "-e", "cycles:u", "--gaps", "fixed", "-c",
					    "10007", loop, "1000000", NULL},
		      s->paranoid);
	check_profile(s->user, "what an unprivileged user asks for without a name",
		      (const char *const[]){"profile", "--no-store", loop, "1000000", NULL}, s->paranoid);
	check_profile(s->kernel, "the kernel's cycles",
		      (const char *const[]){"profile", "--no-store", "-e", "cycles:k", "--gaps", "fixed", "-c",
					    "1009", loop, "1000", NULL},
		      s->paranoid);
	check_profile(s->cpus, "whole CPUs",
		      (const char *const[]){"profile", "--no-store", "-a", "-e", "cycles:u", "--gaps", "fixed", "-c",
					    "10007", loop, "1000000", NULL},
		      s->paranoid);
}

static json_t *doctor(uid_t uid)
{
	struct counted *c = tare_as(uid, (const char *const[]){"doctor", "--json", NULL});
	json_t *report = json_loads(c->said, 0, NULL);
	if (!report)
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
	return report;
}

static bool finding_works(json_t *report, const char *what)
{
	json_t *finding;
	size_t i;
	json_array_foreach(json_object_get(report, "findings"), i,
			   finding) if (strcmp(json_string_value(json_object_get(finding, "what")), what) ==
					0) return strcmp(json_string_value(json_object_get(finding, "state")),
							 "works") == 0;
	printf("# no finding '%s'\n", what);
	return false;
}

static unsigned works(json_t *report)
{
	json_t *finding;
	size_t i;
	unsigned n = 0;
	json_array_foreach(json_object_get(report, "findings"), i, finding)
		n += strcmp(json_string_value(json_object_get(finding, "state")), "works") == 0;
	return n;
}

/* Takes doctor's one step, `… sysctl NAME=VALUE …`, as root, and asks again: does more work now? */
static bool step_helps(json_t *report, uid_t uid)
{
	const char *step = json_string_value(json_object_get(report, "step"));
	const char *at = step ? strstr(step, "sysctl ") : NULL;
	char name[64], path[128];
	int value;
	if (!at || sscanf(at, "sysctl %63[a-z_.]=%d", name, &value) != 2) {
		printf("# no sysctl in the step '%s'\n", step ? step : "(none)");
		return false;
	}
	for (char *dot = name; (dot = strchr(dot, '.'));)
		*dot = '/';
	snprintf(path, sizeof path, "/proc/sys/%s", name);
	FILE *file = fopen(path, "w");
	if (!file || fprintf(file, "%d\n", value) < 0 || fclose(file)) {
		printf("# '%s' cannot be set to %d\n", path, value);
		return false;
	}
	json_t *then = doctor(uid);
	unsigned before = works(report), after = works(then);
	json_decref(then);
	if (after <= before)
		printf("# '%s': %u findings work before, %u after\n", step, before, after);
	return after > before;
}

static void check_doctor(const struct setting *s)
{
	json_t *report = doctor(NOBODY);
	ok(finding_works(report, "hardware counters") == s->user &&
		   finding_works(report, "the kernel's part") == s->kernel &&
		   finding_works(report, "whole CPUs (-a, -C)") == s->cpus,
	   "perf_event_paranoid %d: doctor tells the unprivileged user what the counts above bear out",
	   s->paranoid);
	if (!s->cpus)
		ok(step_helps(report, NOBODY),
		   "perf_event_paranoid %d: doctor's one step allows more when it is taken", s->paranoid);
	json_decref(report);
}

static void other_users_processes(void)
{
	char pid[16];
	set_paranoid(1);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	struct counted *c = tare_as(
		NOBODY, (const char *const[]){"count", "-p", pid, "--for", "0.1", "-e", "instructions:u", NULL});
	if (!ok(c->status == 3 && strstr(c->said, "another user"),
		"another user's process is refused with that reason"))
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
}

/* Root is bound by no setting. */
static void root(void)
{
	set_paranoid(3);
	struct counted *c = tare_run("count", "-e", "instructions:u,instructions:k", kernel("empty"), NULL);
	ok(event_row(c, "instructions:u").value == 3 && event_row(c, "instructions:k").value > 0,
	   "root counts both levels at perf_event_paranoid 3");
	counted_free(c);
	json_t *report = doctor(0);
	ok(finding_works(report, "hardware counters") && finding_works(report, "the kernel's part") &&
		   finding_works(report, "whole CPUs (-a, -C)"),
	   "and doctor says so");
	/* Reading counters without system calls is off by default on arm64. */
	bool step = !json_is_null(json_object_get(report, "step"));
	ok(!step || step_helps(report, 0), "where doctor knows a step for root, it helps");
	json_decref(report);
	report = doctor(0);
	/* all can be counted: what is left is to know what the counting counts */
	const char *last = json_string_value(json_object_get(report, "step"));
	ok(!last || strcmp(last, "run 'tare calibrate'") == 0, "and then nothing more would, but to calibrate");
	json_decref(report);
}

/* The guest's PMU accepts branch events and never counts one: errno would call them available. */
static void by_trial(void)
{
	struct counted *c = tare_run("count", "-e", "branches:u,instructions:u", kernel("loop"), "1000", NULL);
	struct row row = event_row(c, "branches:u");
	if (!ok(!row.known && strstr(row.why, "counted nothing"),
		"an event that opens but does not count is not counted, not 0"))
		printf("# value %.0f, why '%s'\n", row.value, row.why);
	ok(event_row(c, "instructions:u").value == (double)predicted("loop", "instructions", 1000),
	   "beside it what does count is counted");
	counted_free(c);

	c = tare_run("list", "events", "--json", NULL);
	json_t *list = json_loads(c->said, 0, NULL), *event;
	size_t i, right = 0;
	json_array_foreach(json_object_get(list, "events"), i, event)
	{
		const char *name = json_string_value(json_object_get(event, "event"));
		bool it_works = json_is_true(json_object_get(event, "works"));
		if (strcmp(name, "instructions") == 0 || strcmp(name, "cycles") == 0)
			right += it_works;
		else if (strcmp(name, "branches") == 0 || strcmp(name, "branch-misses") == 0 ||
			 strcmp(name, "cache-misses") == 0)
			right += !it_works;
	}
	ok(right == 5, "list says that instructions and cycles work here, and branches, branch-misses and "
		       "cache-misses do not");
	json_decref(list);
	counted_free(c);
}

int main(void)
{
	if (!in_guest()) {
		skip("it changes the machine's settings", "an unprivileged user counts what the settings allow");
		return done();
	}
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const struct setting *s = &settings[i];
		if (!set_paranoid(s->paranoid)) {
			ok(false, "perf_event_paranoid can be set to %d", s->paranoid);
			continue;
		}
		struct counted *c = tare_as(NOBODY,
					    (const char *const[]){"count", "-e",
								  "instructions:u,instructions:k,instructions:uk",
								  kernel("empty"), NULL});
		check_event(c, "instructions:u", s->user, 3, s->paranoid);
		check_event(c, "instructions:k", s->kernel, 1000, s->paranoid);
		check_event(c, "instructions:uk", s->kernel, 1000, s->paranoid);
		counted_free(c);
		if (s->user && !s->kernel)
			check_no_level(s->paranoid);
		check_cpus(s->cpus, s->paranoid);
		check_profiles(s);
		check_doctor(s);
	}
	other_users_processes();
	root();
	by_trial();
	set_paranoid(2);
	return done();
}

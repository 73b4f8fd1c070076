/* What the perf backend says that it can count, by trial; its pieces; and hardware counters where there is a PMU
 * (on the machines of tests/vm there is one). Programs are in perf_program_test.c, running processes in
 * perf_attach_test.c. */
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/pmu.h"
#include "backend/perf/state.h"
#include "backend/perf/trial/trial.h"
#include "perf_program.h"

/* ---- availability ---- */

static void test_available(void)
{
	struct availability answer;
	ok(works("page-faults:u", &answer) && answer.source == SOURCE_OS,
	   "page faults are counted by the operating system");
	ok(works("task-clock", &answer),
	   "the task clock works for every user: the kernel takes no notice of its levels");
	ok(!works("task-clock:u", &answer) && answer.state == READING_UNSUPPORTED && answer.why[0] &&
		   answer.remedy[0],
	   "task-clock:u is refused, with a reason and a way out");
	ok(!works("context-switches:u", &answer) && answer.state == READING_UNSUPPORTED,
	   "context switches at user level are refused: there are none");
	if (!works("instructions:u", &answer))
		ok(answer.state == READING_UNSUPPORTED && answer.source == SOURCE_NONE && answer.why[0],
		   "without a PMU instructions are not counted, and why is said: %s", answer.why);
	else
		ok(answer.source == SOURCE_HW, "instructions are counted by the hardware");
	perf->available(backend, event("rffffffff"), &answer);
	ok(answer.state != READING_COUNTED || answer.source == SOURCE_HW, "any raw code gets an answer");
	ok(!works("nosuchpmu/event=1/", &answer) && strstr(answer.why, "nosuchpmu"), "an unknown PMU is named");

	const struct event *both[] = {event("page-faults:u"), event("task-clock")};
	ok(perf->fits(backend, both, 2), "events of the operating system fit together");
	ok(perf->fits(backend, both, 0), "no events fit");
	const struct event *none[] = {event("page-faults:u"), event("task-clock:u")};
	ok(!perf->fits(backend, none, 2), "with one that does not work nothing fits");
}

/* The evidence for refusing task-clock:u. A kernel that honours levels here would make this test fail, and the
 * refusal wrong. */
static void test_clock_ignores_levels(void)
{
	struct event_encoding clock = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .scale = 1};
	struct counter_request request = {.encoding = &clock, .levels = LEVEL_KERNEL};
	static const char fact[] = "the kernel's task clock counts a user-level loop at level ':k' as well";
	struct counter_values values = {0};
	int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
	if (fd < 0) {
		skip("this user may not count the kernel's part", fact);
		return;
	}
	struct timespec begin, end;
	counter_enable(fd);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	stimulus_loop(20000000);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	counter_disable(fd);
	counter_read(fd, &values);
	close(fd);
	double loop_ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
	/* a half: what comes between two switches is in one of the two times only, see run_time(); honoured, the level
	 * would leave next to nothing */
	ok((double)values.count > 0.5 * loop_ns, "%s", fact);
}

/* ---- diagnosis ---- */

static void test_diagnosis(void)
{
	struct finding findings[32], few[2];
	size_t n = 0, most_two = 0;
	bool complete = true;
	perf->diagnose(backend, findings, 32, &n);
	for (size_t i = 0; i < n; i++)
		complete &= findings[i].what[0] && findings[i].detail[0];
	for (size_t i = 0; i < n; i++)
		printf("# %d %s: %s\n", (int)findings[i].state, findings[i].what, findings[i].detail);
	ok(n >= 8 && n < 32 && complete, "a diagnosis has findings, each with a subject and a text");
	struct availability answer;
	bool hardware = works("instructions:u", &answer);
	ok(strcmp(findings[0].what, "hardware counters") == 0 && (findings[0].state == FINDING_WORKS) == hardware,
	   "hardware counters work by the diagnosis exactly when instructions can be counted");
	perf->diagnose(backend, few, 2, &most_two);
	equal_u64(most_two, 2, "no more findings are written than there is room for");
}

/* ---- where there is a PMU: the guest ---- */

static const struct {
	const char *request;
	uint64_t least; /* of stimulus_loop(STIMULUS_LOOPS) */
} loop_counts[] = {{"instructions:u", 2 * STIMULUS_LOOPS}, {"branches:u", STIMULUS_LOOPS}, {"cycles:u", 1}};

static void test_hardware(void)
{
	struct availability answer;
	if (!works("instructions:u", &answer)) {
		skip(answer.why, "a loop of 40000 instructions counts as such");
		skip(answer.why, "as many counters as the hardware has run at once, and one more does not");
		return;
	}
	for (size_t i = 0; i < sizeof loop_counts / sizeof *loop_counts; i++) {
		const struct event *e = event(loop_counts[i].request);
		if (!works(loop_counts[i].request, &answer)) {
			skip(answer.why, "a loop is counted");
			continue;
		}
		struct event_machine host = event_machine_host();
		struct event_encoding encoding;
		struct error err;
		struct counter_values values = {0};
		event_encode(e, &host, 0, &encoding, &err);
		struct counter_request request = {.encoding = &encoding, .levels = LEVEL_USER};
		int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
		counter_enable(fd);
		stimulus_loop(STIMULUS_LOOPS);
		counter_disable(fd);
		counter_read(fd, &values);
		close(fd);
		printf("# %s of a loop of %d turns: %" PRIu64 "\n", e->label, STIMULUS_LOOPS, values.count);
		ok(values.count >= loop_counts[i].least && (i > 0 || values.count < 2 * STIMULUS_LOOPS + 200),
		   "%s of a loop are what they must be", e->label);
	}

	/* the kernel gives each a counter of its own, although they are the same event */
	enum { MOST = 40 };
	const struct event *many[MOST];
	for (size_t i = 0; i < MOST; i++)
		many[i] = event("instructions:u");
	size_t fit = 1;
	while (fit < MOST && perf->fits(backend, many, fit + 1))
		fit++;
	printf("# %zu counters of instructions at once\n", fit);
	if (fit == MOST) {
		skip("more counters than this test opens", "one more than fits is multiplexed");
		return;
	}
	struct command command = command_of("burn", "50");
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	for (size_t n = fit; n <= fit + 1; n++) {
		struct counting *counting;
		struct error err = {0};
		struct run run = {0};
		bool whole = true,
		     ran = perf->prepare(backend, &target, many, n, &counting, &err) && perf->go(counting, &err);
		waitpid(perf->process(counting), NULL, 0);
		ran = ran && perf->stop(counting, &run, &err);
		for (size_t i = 0; ran && i < n; i++)
			whole &= run.readings[i].state == READING_COUNTED &&
				 run.readings[i].running_ns == run.readings[i].enabled_ns;
		ok(ran && whole == (n == fit),
		   n == fit ? "what fits runs all the time" : "one more shares its counter");
		perf->end(counting);
		run_free(&run);
	}
}

/* ---- small pieces ---- */

static void test_lists(void)
{
	ok(pmu_list_has("0-3,8", 3) && pmu_list_has("0-3,8", 8) && !pmu_list_has("0-3,8", 4) &&
		   !pmu_list_has("", 0),
	   "a list of CPUs holds its ranges");
	ok(pmu_list_first("4-7") == 4 && pmu_list_first("") == 0, "its first is the first");
	struct pmu pmu;
	ok(pmu_find("/sys/bus/event_source/devices", PERF_TYPE_SOFTWARE, &pmu) &&
		   strcmp(pmu.name, "software") == 0,
	   "a PMU is found by its number");
	ok(!pmu_find("/nowhere", PERF_TYPE_SOFTWARE, &pmu), "without a list of PMUs none is found");
}

/* A file of a folder like /sys/bus/event_source/devices. */
static void make_file(const char *root, const char *pmu, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", root, pmu);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%s", root, pmu, name);
	for (char *slash = strchr(path + strlen(root) + strlen(pmu) + 2, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *out = fopen(path, "w");
	fprintf(out, "%s\n", text);
	fclose(out);
}

static void remove_folder(const char *root)
{
	char remove[64];
	snprintf(remove, sizeof remove, "rm -rf %s", root);
	if (system(remove) != 0)
		printf("# %s is left\n", root);
}

static void test_kinds_of_cores(void)
{
	char root[] = "/tmp/tare-pmus-XXXXXX";
	struct core_kinds kinds = {0};
	if (!mkdtemp(root))
		return;
	/* as of an x86 with P- and E-cores */
	make_file(root, "cpu_atom", "type", "10");
	make_file(root, "cpu_atom", "cpus", "8-15");
	make_file(root, "cpu_core", "type", "4");
	make_file(root, "cpu_core", "cpus", "0-7");
	make_file(root, "uncore", "type", "20");
	make_file(root, "uncore", "cpumask", "0");
	kinds.n = pmu_cores(root, kinds.pmus, CORE_KINDS_MOST);
	ok(kinds.n == 2 && strcmp(kinds.pmus[0].name, "cpu_core") == 0 && kinds.pmus[1].type == 10,
	   "core PMUs are those with a list of their CPUs");

	struct event_encoding cycles = {.type = PERF_TYPE_HARDWARE, .config = 0, .scale = 1};
	struct variants v = variants_of(&cycles, &kinds, root);
	ok(v.n == 2 && v.items[0].encoding.config == 4ull << 32 && v.items[1].encoding.config == 10ull << 32 &&
		   strcmp(v.items[0].cpus, "0-7") == 0 && strcmp(v.items[1].cpus, "8-15") == 0 && !v.some_cores,
	   "a generic event becomes one counter for each kind of core");
	struct event_encoding of_core = {.type = 10, .config = 0x3c, .scale = 1}, raw = {.type = PERF_TYPE_RAW};
	v = variants_of(&of_core, &kinds, root);
	ok(v.n == 1 && v.some_cores && !v.whole_cpus && strcmp(v.pmu, "cpu_atom") == 0,
	   "an event of one kind's PMU counts on some of the cores");
	v = variants_of(&raw, &kinds, root);
	ok(v.n == 1 && v.some_cores, "so does a raw code, which the kernel gives to one of the PMUs");
	struct event_encoding of_package = {.type = 20, .scale = 1}, software = {.type = PERF_TYPE_SOFTWARE};
	v = variants_of(&of_package, &kinds, root);
	ok(v.n == 1 && v.whole_cpus && strcmp(v.items[0].cpus, "0") == 0 && !v.some_cores,
	   "a PMU with a cpumask counts packages");
	v = variants_of(&software, &kinds, root);
	ok(v.n == 1 && !v.some_cores && !v.whole_cpus && !v.items[0].cpus[0], "software events are not concerned");
	kinds.n = 1;
	v = variants_of(&cycles, &kinds, root);
	ok(v.n == 1 && v.items[0].encoding.config == 0, "with one kind of cores nothing changes");
	remove_folder(root);
}

/* The time stamp counter counts on each CPU; it is made to look like a counter of a package, of which CPU 0 is in
 * charge, so that counting it on another CPU too would be counting it twice. */
static void test_packages(void)
{
	static const char *const facts[] = {"a counter of a package is counted on the CPU in charge only",
					    "on its other CPUs it is not counted, which is not 0",
					    "for a program it is refused",
					    "for a CPU that is not in charge it is refused"};
	char root[] = "/tmp/tare-pmus-XXXXXX", type[16] = "";
	struct availability answer;
	struct error err = {0};
	struct backend *other = NULL;
	FILE *file = fopen("/sys/bus/event_source/devices/msr/type", "r");
	if (file) {
		if (!fgets(type, sizeof type, file))
			type[0] = '\0';
		fclose(file);
	}
	if (!type[0] || !works("msr/tsc/", &answer) || sysconf(_SC_NPROCESSORS_ONLN) < 2 || geteuid() != 0 ||
	    !mkdtemp(root) || !perf->open(NULL, &other, &err)) {
		for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
			skip("no time stamp counter for root on two CPUs", facts[i]);
		return;
	}
	type[strcspn(type, "\n")] = '\0';
	make_file(root, "msr", "type", type);
	make_file(root, "msr", "cpumask", "0");
	make_file(root, "msr", "format/event", "config:0-63");
	make_file(root, "msr", "events/tsc", "event=0x00");
	other->machine.sysfs_root = root;

	const struct event *events[] = {event("msr/tsc/")};
	struct command command = command_of("touch", "10");
	struct target target = {.kind = TARGET_CPUS, .command = &command, .per_cpu = true};
	struct counting *counting = NULL;
	struct run run = {0};
	bool done = perf->prepare(other, &target, events, 1, &counting, &err) && perf->go(counting, &err);
	if (done)
		waitpid(perf->process(counting), NULL, 0);
	done = done && perf->stop(counting, &run, &err);
	size_t counted = 0, waiting = 0;
	for (size_t row = 0; row < run.n_rows; row++) {
		const struct reading *r = &run.readings[row];
		counted += r->state == READING_COUNTED && r->count_raw > 0 && r->cpu == 0;
		waiting += r->state == READING_NEVER_RAN && r->why && r->cpu != 0;
	}
	ok(done && counted == 1, "%s", facts[0]);
	ok(waiting == run.n_rows - 1, "%s", facts[1]);
	if (counting)
		perf->end(counting);
	run_free(&run);

	run = (struct run){0};
	target = (struct target){.kind = TARGET_COMMAND, .command = &command};
	done = perf->prepare(other, &target, events, 1, &counting, &err) && perf->go(counting, &err);
	if (done)
		waitpid(perf->process(counting), NULL, 0);
	done = done && perf->stop(counting, &run, &err);
	ok(done && run.readings[0].state == READING_UNSUPPORTED && strstr(run.readings[0].why, "-a"), "%s",
	   facts[2]);
	if (counting)
		perf->end(counting);
	run_free(&run);

	const int one = 1;
	target = (struct target){.kind = TARGET_CPUS, .command = &command, .cpus = &one, .n_cpus = 1};
	ok(!perf->prepare(other, &target, events, 1, &counting, &err) && err.code == ERROR_UNSUPPORTED &&
		   strstr(err.hint, "0"),
	   "%s", facts[3]);
	perf->close(other);
	remove_folder(root);
}

/* A trial is judged by what was counted: page faults of a stimulus that asks for more than it does. */
static bool run_five(uint64_t *least)
{
	touch(5);
	*least = 5;
	return true;
}

static bool run_too_few(uint64_t *least)
{
	touch(5);
	*least = 1000000;
	return true;
}

static bool run_nothing(uint64_t *least)
{
	(void)least;
	return false;
}

static void test_trials(void)
{
	static const struct stimulus five = {"5 pages", run_five}, too_few = {"5 pages", run_too_few},
				     nothing = {"nothing", run_nothing};
	struct event_encoding faults_of = {.type = PERF_TYPE_SOFTWARE,
					   .config = PERF_COUNT_SW_PAGE_FAULTS,
					   .scale = 1},
			      no_such = {.type = 0x7fffffff, .scale = 1};
	struct trial trial = trial_run_one(&faults_of, LEVEL_USER, COUNTER_ANY_CPU, &five);
	ok(trial.outcome == TRIAL_WORKS && trial.count >= 5 && trial.least == 5, "what counts enough works");
	trial = trial_run_one(&faults_of, LEVEL_USER, COUNTER_ANY_CPU, &too_few);
	ok(trial.outcome == TRIAL_SILENT && trial.count >= 5, "what opens, runs and counts too little does not");
	trial = trial_run_one(&faults_of, LEVEL_USER, COUNTER_ANY_CPU, &nothing);
	ok(trial.outcome == TRIAL_WORKS && trial.least == 0, "where nothing known can be done, running is enough");
	trial = trial_run_one(&no_such, LEVEL_USER, COUNTER_ANY_CPU, NULL);
	ok(trial.outcome == TRIAL_REFUSED && trial.os_errno != 0, "a refusal has its errno");
	struct availability answer;
	if (geteuid() == 0)
		ok(!works("major-faults", &answer) || answer.source == SOURCE_OS,
		   "an event without a stimulus is counted if it runs");
}

/* The time stamp counter with a scale of its own. */
static void test_scale(void)
{
	static const char *const facts[] = {
		"a count in halves of its unit is halved",
		"one that is too small to show in whole units is not counted, instead of 0"};
	char root[] = "/tmp/tare-pmus-XXXXXX", type[16] = "";
	struct availability answer;
	struct error err = {0};
	FILE *file = fopen("/sys/bus/event_source/devices/msr/type", "r");
	if (file) {
		if (!fgets(type, sizeof type, file))
			type[0] = '\0';
		fclose(file);
	}
	type[strcspn(type, "\n")] = '\0';
	if (!type[0] || !works("msr/tsc/", &answer) || !mkdtemp(root)) {
		for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
			skip("no time stamp counter", facts[i]);
		return;
	}
	make_file(root, "msr", "type", type);
	make_file(root, "msr", "format/event", "config:0-63");
	make_file(root, "msr", "events/tsc", "event=0x00");
	static const char *const scales[] = {"0.5", "1e-15"};
	for (size_t i = 0; i < 2; i++) {
		struct backend *other;
		make_file(root, "msr", "events/tsc.scale", scales[i]);
		if (!perf->open(NULL, &other, &err))
			return;
		struct backend *usual = backend;
		other->machine.sysfs_root = root;
		backend = other;
		struct reading r = count("msr/tsc/", "burn", "20", true, NULL, NULL);
		backend = usual;
		if (i == 0) {
			/* the counter advances with the time that it was enabled for */
			struct reading whole = count("msr/tsc/", "burn", "20", true, NULL, NULL);
			double half = (double)r.count_raw / (double)r.enabled_ns;
			near(half / ((double)whole.count_raw / (double)whole.enabled_ns), 0.5, 0.005, facts[0]);
		} else {
			ok(r.state == READING_FAILED && r.count_raw == 0, "%s", facts[1]);
		}
		perf->close(other);
	}
	remove_folder(root);
}

static void test_open(void)
{
	struct backend *other = (void *)1;
	struct error err = {0};
	ok(!perf->open("argument", &other, &err) && !other && err.code == ERROR_USAGE,
	   "the backend takes no argument");
}
static void tests(void)
{
	test_open();
	test_lists();
	test_kinds_of_cores();
	test_packages();
	test_trials();
	test_scale();
	test_available();
	test_clock_ignores_levels();
	test_diagnosis();
	test_hardware();
}

int main(int argc, char **argv) { return perf_main(argc, argv, tests); }

/* The replay backend and its recordings: every answer is the recording's, a malformed recording is refused with
 * its place, and the program is a real one. RECORDINGS, tests/golden/recordings, is a macro of the build. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/replay/locate.h"
#include "backend/replay/recording.h"
#include "backend/replay/replay.h"
#include "tap.h"

static const struct backend_operations *const ops = &replay_backend;

static struct event named(const char *name)
{
	return (struct event){.text = name, .label = name, .levels = LEVEL_USER | LEVEL_KERNEL};
}

static struct backend *open_golden(const char *name)
{
	char path[512];
	struct error err = {0};
	struct backend *b = NULL;
	snprintf(path, sizeof path, "%s/%s", RECORDINGS, name);
	if (!ops->open(path, &b, &err))
		printf("# %s\n", err.text);
	return b;
}

static enum reading_state state_of(struct backend *b, const char *name, struct availability *a)
{
	struct event event = named(name);
	ops->available(b, &event, a);
	return a->state;
}

static bool fit(struct backend *b, const char *const *names, size_t n)
{
	struct event events[8];
	const struct event *list[8];
	for (size_t i = 0; i < n; i++) {
		events[i] = named(names[i]);
		list[i] = &events[i];
	}
	return ops->fits(b, list, n);
}

/* One execution without a program; returns the counting after go(), or NULL. */
static const struct target no_program = {.kind = TARGET_CPUS};

/* text in a file of its own */
static struct backend *open_text(const char *text, struct error *err)
{
	char path[] = "/tmp/tare-replay-XXXXXX";
	struct backend *b = NULL;
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return NULL;
	close(fd);
	ops->open(path, &b, err);
	unlink(path);
	return b;
}

/* ---- recordings that are not ---- */

static void refused(const char *text, const char *expected, const char *fact)
{
	struct recording recording;
	struct error err = {0};
	bool read = recording_parse(text, strlen(text), "f.json", &recording, &err);
	if (read)
		recording_free(&recording);
	equal_text(read ? "(accepted)" : err.text, expected, fact);
}

static void test_refusals(void)
{
	refused("", "f.json:1:1: '[' or '{' expected near end of file", "an empty recording is refused");
	refused("{\n  \"tare_recording\": 1,,\n}", "f.json:2:23: string or '}' expected near ','",
		"a syntax error has its line and column");
	refused("{\"tare_recording\": 1, \"events\": [], \"events\": []}",
		"f.json:1:44: duplicate object key near '\"events\"'", "a key that stands twice is refused");
	refused("[]", "f.json:1:1: expected an object", "an array is no recording");
	refused("{}", "f.json:1:1: this is not a recording: it has no 'tare_recording'",
		"an object without a version is no recording");
	refused("{\"tare_recording\": 2, \"new\": 1}",
		"f.json:1:20: the recording's version is 2, this tare reads 1",
		"another version is refused, not guessed");
	refused("{\"tare_recording\": 1}", "f.json:1:1: the recording has no 'events'", "events are needed");
	refused("{\"tare_recording\": 1,\n \"events\": [],\n \"event\": []}",
		"f.json:3:11: 'event' is not a key of this object", "an unknown key is refused where it stands");
	refused("{\"tare_recording\": 1, \"events\": [\n\t{\"name\": \"é\", \"source\": \"os\"}, 7]}",
		"f.json:2:33: expected an object", "columns are counted in characters");
	refused("{\"tare_recording\": 1, \"events\": [{\"source\": \"os\"}]}",
		"f.json:1:34: the event has no 'name'", "an event needs a name");
	refused("{\"tare_recording\": 1, \"events\": [{\"name\": \"a\"}]}",
		"f.json:1:34: 'a' is counted, but has no 'source'", "a counted event needs a source");
	refused("{\"tare_recording\": 1, \"events\": [{\"name\": \"a\", \"source\": \"scaled\"}]}",
		"f.json:1:58: 'scaled' is not known: source is one of 'hw', 'os', 'exact', 'model'",
		"a backend cannot say that it scaled");
	refused("{\"tare_recording\": 1, \"events\": [{\"name\": \"a\", \"state\": \"denied\"}]}",
		"f.json:1:34: 'a' is not counted, but has no 'why'", "what is not counted needs a reason");
	refused("{\"tare_recording\": 1, \"events\": [{\"name\": \"a\", \"source\": \"os\"},"
		"{\"name\": \"a\", \"source\": \"os\"}]}",
		"f.json:1:73: a second event is named 'a'", "two events of one name are refused");
	refused("{\"tare_recording\": 1, \"counters\": 2, \"events\": [{\"name\": \"a\", \"source\": \"hw\", "
		"\"counter\": [2]}]}",
		"f.json:1:91: there is no counter 2: 'counters' is 2", "a counter that is not there is refused");
	refused("{\"tare_recording\": 1, \"counters\": 65, \"events\": []}",
		"f.json:1:35: 65 is too large: at most 64 is possible", "the number of counters is bounded");

#define A "{\"tare_recording\": 1, \"events\": [{\"name\": \"a\", \"source\": \"os\"}],\n\"executions\": [{"
	refused(A "\"readings\": {\"b\": 1}}]}", "f.json:2:35: 'b' is not one of the recording's events",
		"a reading of an unknown event is refused");
	refused(A "\"readings\": {\"a\": -1}}]}", "f.json:2:35: expected a whole number, 0 or more",
		"a count below 0 is refused");
	refused(A "\"readings\": {\"a\": 1.5}}]}", "f.json:2:35: expected a count or an object",
		"a fraction of a count is refused");
	refused(A "\"readings\": {\"a\": 9223372036854775808}}]}",
		"f.json:2:53: too big integer near '9223372036854775808'",
		"a count beyond 64 bits is refused, not wrapped");
	refused(A "\"readings\": {\"a\": {\"running_ns\": 5}}}]}", "f.json:2:35: the reading has no 'count'",
		"a counted reading without a count is refused, not taken as 0");
	refused(A "\"readings\": {\"a\": {\"state\": \"never-ran\", \"count\": 0}}}]}",
		"f.json:2:35: a reading that is 'never-ran' has no 'count' and no 'running_ns'",
		"a counter that never ran has no count, not even 0");
	refused(A "\"readings\": {\"a\": {\"state\": \"failed\"}}}]}",
		"f.json:2:35: a reading that is 'failed' needs a 'why'", "a reading that failed needs a reason");
	refused(A "\"rows\": [{\"tid\": 1}, {\"tid\": 2}], \"readings\": {\"a\": [1]}}]}",
		"f.json:2:69: 'a' needs an array of 2 readings, one for each row", "every row has a reading");
	refused(A "\"samples\": [{\"a\": [1]}]}]}", "f.json:2:35: 'a' needs one reading here, not an array",
		"samples are of all rows together");
	refused(A "\"rows\": [{\"tid\": 1, \"cpu\": 2}]}]}", "f.json:2:26: a row is of one 'tid' or of one 'cpu'",
		"a row is a thread's or a CPU's");
	refused(A "\"fails\": {\"at\": \"end\"}}]}",
		"f.json:2:33: 'end' is not known: at is one of 'prepare', 'go', 'sample', 'stop'",
		"an unknown step is refused");
	refused(A "\"fails\": {\"at\": \"go\"}}]}", "f.json:2:26: a failure needs 'at', 'code' and 'text'",
		"a failure says what failed");
#undef A
	struct backend *b = NULL;
	struct error err = {0};
	ok(!ops->open("/nonexistent/r.json", &b, &err) && !b && err.os_errno == ENOENT,
	   "a recording that is not there is an error of the operating system");
	ok(!ops->open(NULL, &b, &err) && err.hint[0], "replay without a recording says how to name one");
}

static void test_places(void)
{
	static const char text[] = "{\n \"a\": [ 1, {\"b\\\"]}\": 2, \"c\": \"]}\" }, 3 ],\n \"d\": 4\n}";
	struct json_place top = {0}, a = {&top, "a", 0}, object = {&a, NULL, 1}, c = {&object, "c", 0},
			  last = {&a, NULL, 2}, d = {&top, "d", 0}, none = {&top, "none", 0};
	unsigned line, column;
	locate(text, sizeof text - 1, &c, &line, &column);
	ok(line == 2 && column == 30, "a value behind strings with brackets and quotes is found (%u:%u)", line,
	   column);
	locate(text, sizeof text - 1, &last, &line, &column);
	ok(line == 2 && column == 38, "an array's last value is found (%u:%u)", line, column);
	locate(text, sizeof text - 1, &d, &line, &column);
	ok(line == 3 && column == 7, "a value on another line is found (%u:%u)", line, column);
	locate(text, sizeof text - 1, &none, &line, &column);
	ok(line == 1 && column == 1, "a value that is not there has the place of what is around it");
}

/* ---- availability and room ---- */

static void test_availability(void)
{
	struct availability a;
	struct backend *b = open_golden("denied.json");
	ok(state_of(b, "cycles", &a) == READING_DENIED && a.why[0] && a.remedy[0],
	   "EACCES: an event that may not be counted is denied, with the remedy");
	ok(state_of(b, "cycles:u", &a) == READING_COUNTED && a.source == SOURCE_HW,
	   "EACCES: the same event at user level is another event, and counted");
	ok(state_of(b, "branches", &a) == READING_UNSUPPORTED && a.why[0],
	   "an event that the recording does not have is unsupported, with the reason");
	struct finding findings[4];
	size_t count = 3;
	ops->diagnose(b, findings, 4, &count);
	ok(count == 4 && findings[3].state == FINDING_NO && strcmp(findings[3].what, "kernel-level events") == 0,
	   "findings are appended");
	ops->diagnose(b, findings, 4, &count);
	ok(count == 4, "findings stop where there is no more room");
	ops->close(b);

	b = open_golden("missing.json");
	ok(state_of(b, "cycles", &a) == READING_UNSUPPORTED && a.remedy[0],
	   "ENOENT: an event without a PMU is unsupported");
	ok(state_of(b, "page-faults", &a) == READING_COUNTED && a.source == SOURCE_OS,
	   "ENOENT: software events count");
	struct event label = {.text = "PAPI_PG_FLT", .label = "page-faults"};
	ops->available(b, &label, &a);
	ok(a.state == READING_COUNTED, "an event is found by its label too");
	ops->close(b);
}

static void test_room(void)
{
	static const char *const two[] = {"instructions", "branches"};
	static const char *const with_os[] = {"page-faults", "instructions"};
	static const char *const watched[] = {"cycles"};
	struct backend *b = open_golden("busy.json");
	ok(fit(b, two, 1), "EBUSY: one event fits on the one counter that is left");
	ok(!fit(b, two, 2), "EBUSY: two events do not fit on one counter");
	ok(fit(b, with_os, 2), "an event of the operating system takes no counter");
	ok(!fit(b, watched, 1), "an event that is not counted fits nowhere");
	ok(fit(b, NULL, 0), "no events fit");
	ops->close(b);

	/* a can sit on 0 and 1, b on 0 only, c on 1 and 2 */
	static const char text[] = "{\"tare_recording\": 1, \"counters\": 3, \"events\": ["
				   "{\"name\": \"a\", \"source\": \"hw\", \"counter\": [0, 1]},"
				   "{\"name\": \"b\", \"source\": \"hw\", \"counter\": [0]},"
				   "{\"name\": \"c\", \"source\": \"hw\", \"counter\": [1, 2]},"
				   "{\"name\": \"d\", \"source\": \"hw\", \"counter\": [0]}]}";
	static const char *const abc[] = {"a", "b", "c"}, *const cab[] = {"c", "a", "b"};
	static const char *const bd[] = {"b", "d"}, *const twice[] = {"b", "b"};
	struct error err = {0};
	b = open_text(text, &err);
	ok(b && fit(b, abc, 3) && fit(b, cab, 3), "events move to other counters to make room, in any order");
	ok(b && !fit(b, bd, 2), "two events that count on the same counter only conflict");
	ok(b && !fit(b, twice, 2), "the same event twice takes two counters");
	ops->close(b);
}

/* ---- executions ---- */

static void test_readings(void)
{
	struct event cycles = named("cycles"), instructions = named("instructions"), branches = named("branches"),
		     faults = named("page-faults");
	const struct event *const events[] = {&instructions, &cycles, &branches, &faults};
	struct backend *b = open_golden("never-scheduled.json");
	struct counting *c = NULL;
	struct run run = {0};
	struct error err = {0};
	ok(ops->prepare(b, &no_program, events, 4, &c, &err) && ops->process(c) == 0 && ops->go(c, &err),
	   "a target without a program executes none");
	bool stopped = ops->stop(c, &run, &err);
	ops->end(c);
	ops->close(b);
	ok(stopped && run.n_events == 4 && run.n_rows == 1, "every event has one reading");
	const struct reading *r = run.readings;
	ok(r[0].state == READING_COUNTED && r[0].count_raw == 0 && r[0].running_ns == 0 &&
		   r[0].enabled_ns == 2000000,
	   "readings are in the order of the events, with their times");
	ok(r[1].count_raw == 4000000 && r[1].running_ns == 2000000 && r[1].source == SOURCE_HW && r[1].cpu == -1,
	   "a plain number was counted all the time");
	ok(r[2].state == READING_NEVER_RAN && r[2].source == SOURCE_NONE,
	   "a counter that never ran is not a count of 0");
	equal_text(r[2].why, "its group never got a counter", "the reason lives on when the recording is closed");
	ok(r[3].state == READING_COUNTED && r[3].count_raw == 0 && r[3].running_ns == 2000000,
	   "a 0 that was counted is a count");
	run_free(&run);
}

static void test_order(void)
{
	struct event instructions = named("instructions"), faults = named("page-faults"), cycles = named("cycles");
	const struct event *const first[] = {&instructions}, *const denied[] = {&faults, &cycles};
	struct backend *b = open_golden("busy.json");
	struct counting *c = NULL;
	struct error err = {0};
	ok(!ops->prepare(b, &no_program, denied, 2, &c, &err) && !c && strstr(err.text, "'cycles'"),
	   "an event that is not counted cannot be prepared");
	ops->close(b);
	b = open_golden("busy.json");
	ok(ops->prepare(b, &no_program, first, 1, &c, &err),
	   "the first execution may ask for a part of its readings");
	ops->end(c);
	ok(!ops->prepare(b, &no_program, first, 1, &c, &err) && !c && err.code == ERROR_BUSY && err.hint[0],
	   "EBUSY: a recorded failure comes with its code and hint");
	ok(!ops->prepare(b, &no_program, first, 1, &c, &err) && err.code == ERROR_BUSY,
	   "the last execution repeats where the recording says so");
	ops->close(b);

	b = open_golden("throttled.json");
	const struct event *const one[] = {&cycles};
	ok(ops->prepare(b, &no_program, one, 1, &c, &err), "the one execution of a recording can be prepared");
	ops->end(c);
	ok(!ops->prepare(b, &no_program, one, 1, &c, &err) && !c &&
		   strstr(err.text, "has 1 execution; this is number 2"),
	   "an execution that was not recorded is an error, not a repetition");
	ops->close(b);

	b = open_text("{\"tare_recording\": 1, \"events\": [{\"name\": \"cycles\", \"source\": \"hw\"},"
		      "{\"name\": \"instructions\", \"source\": \"hw\"}], \"executions\": [{\"readings\": "
		      "{\"cycles\": 1}}]}",
		      &err);
	ok(b && !ops->prepare(b, &no_program, first, 1, &c, &err) &&
		   strstr(err.text, "no reading of 'instructions'"),
	   "a reading that was not recorded is an error, not 0");
	ops->close(b);
}

static void test_samples(void)
{
	struct event misses = named("cache-misses"), cycles = named("cycles");
	const struct event *const events[] = {&misses, &cycles};
	struct backend *b = open_golden("multiplexed.json");
	struct counting *c = NULL;
	struct run run = {0};
	struct reading at[2];
	struct error err = {0};
	static const uint64_t expected[] = {100, 90100, 90200, 90300};
	bool same = ops->prepare(b, &no_program, events, 2, &c, &err) && ops->go(c, &err);
	for (size_t i = 0; same && i < 4; i++)
		same = ops->read_running(c, at, &err) && at[0].count_raw == expected[i] &&
		       at[0].enabled_ns == 8000000 * (i + 1) && at[0].running_ns == 4000000 * (i + 1) &&
		       at[1].count_raw == 8000000 * (i + 1);
	ok(same, "multiplexing: each look gets the next recorded sample, with its times");
	ok(!ops->read_running(c, at, &err), "there are no looks beyond the recorded ones");
	ok(ops->stop(c, &run, &err) && run.readings[0].count_raw == 90400 &&
		   run.readings[0].running_ns == 20000000 && run.readings[0].enabled_ns == 40000000,
	   "the end is the recorded end, however many samples were taken");
	run_free(&run);
	ops->end(c);
	ops->close(b);

	const struct event *const one[] = {&cycles};
	b = open_golden("throttled.json");
	same = ops->prepare(b, &no_program, one, 1, &c, &err) && ops->go(c, &err);
	ok(same && ops->read_running(c, at, &err) && ops->read_running(c, at, &err) &&
		   at[0].running_ns == 12000000 && ops->read_running(c, at, &err) &&
		   at[0].running_ns == 12000000 && at[0].enabled_ns == 30000000,
	   "throttling: enabled time goes on while running time stands");
	ops->end(c);
	ops->close(b);
}

static void test_rows(void)
{
	static const pid_t threads[] = {101, 102, 103};
	const struct target each = {.kind = TARGET_THREADS, .pids = threads, .n_pids = 3, .per_thread = true};
	const struct target together = {.kind = TARGET_THREADS, .pids = threads, .n_pids = 3};
	struct event cycles = named("cycles"), clock = named("task-clock");
	const struct event *const events[] = {&cycles, &clock};
	struct backend *b = open_golden("threads.json");
	struct counting *c = NULL;
	struct run run = {0};
	struct error err = {0};
	bool done = ops->prepare(b, &each, events, 2, &c, &err) && ops->go(c, &err) && ops->stop(c, &run, &err);
	const struct reading *r = run.readings;
	ok(done && run.n_rows == 3 && r[0].tid == 101 && r[2].tid == 102 && r[4].tid == 103 && r[5].tid == 103,
	   "a target that is read per thread gets a row for each");
	ok(done && r[0].count_raw == 1000 && r[2].state == READING_NEVER_RAN && r[4].state == READING_FAILED &&
		   r[4].why && r[5].count_raw == 300000,
	   "a counter that failed in one thread fails in its row alone");
	run_free(&run);
	ops->end(c);
	done = ops->prepare(b, &together, events, 2, &c, &err) && ops->go(c, &err) && ops->stop(c, &run, &err);
	r = run.readings;
	ok(done && run.n_rows == 1 && r[0].state == READING_FAILED && r[0].why && r[0].tid == 0,
	   "together, a thread whose counter failed makes the sum a failure, never a smaller count");
	ok(done && r[1].state == READING_COUNTED && r[1].count_raw == 1000000 && r[1].enabled_ns == 10000000,
	   "together, a thread that never ran adds nothing");
	run_free(&run);
	ops->end(c);
	ops->close(b);
}

static void test_breaks(void)
{
	struct event cycles = named("cycles"), instructions = named("instructions");
	const struct event *const events[] = {&cycles, &instructions};
	struct backend *b = open_golden("breaks.json");
	struct counting *c = NULL;
	struct run run = {0};
	struct reading at[2];
	struct error err = {0};
	bool ready = ops->prepare(b, &no_program, events, 2, &c, &err) && ops->go(c, &err);
	ok(ready && !ops->read_running(c, at, &err) && err.code == ERROR_IO && ops->stop(c, &run, &err) &&
		   run.readings[1].count_raw == 2000,
	   "a look that fails leaves the end readable");
	run_free(&run);
	ops->end(c);
	ready = ops->prepare(b, &no_program, events, 2, &c, &err) && ops->go(c, &err) && ops->stop(c, &run, &err);
	ok(ready && run.readings[0].count_raw == 1001 && run.readings[1].state == READING_FAILED &&
		   run.readings[1].why,
	   "a counter that broke on the way says why, and the others count");
	run_free(&run);
	ops->end(c);
	ok(ops->prepare(b, &no_program, events, 2, &c, &err) && !ops->go(c, &err) && err.code == ERROR_SYSTEM,
	   "counters that cannot be enabled are a failure of go");
	ops->end(c);
	ok(ops->prepare(b, &no_program, events, 2, &c, &err) && ops->go(c, &err) && !ops->stop(c, &run, &err),
	   "counters that cannot be read at the end are a failure of stop");
	run_free(&run);
	ops->end(c);
	ops->close(b);
}

/* ---- the program ---- */

static void test_program(void)
{
	int out[2];
	char text[64] = "";
	char *const argv[] = {"sh", "-c", "echo real; exit 7", NULL};
	char *const missing[] = {"/nonexistent/program", NULL};
	struct event cycles = named("cycles:u");
	const struct event *const events[] = {&cycles};
	struct backend *b = open_golden("denied.json");
	struct counting *c = NULL;
	struct run run = {0};
	struct error err = {0};
	int status = 0;
	if (pipe2(out, O_CLOEXEC) != 0)
		return;
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = out[1], .stderr_fd = -1};
	const struct target target = {.kind = TARGET_COMMAND, .command = &command};
	bool ready = ops->prepare(b, &target, events, 1, &c, &err);
	pid_t pid = ready ? ops->process(c) : 0;
	ok(ready && pid > 0 && waitpid(pid, &status, WNOHANG) == 0, "a command's process is held until go");
	ready = ready && ops->go(c, &err) && waitpid(pid, &status, 0) == pid && ops->stop(c, &run, &err);
	ok(ready && WIFEXITED(status) && WEXITSTATUS(status) == 7, "the program's exit status is real");
	ok(ready && read(out[0], text, sizeof text - 1) > 0 && strcmp(text, "real\n") == 0,
	   "the program's output is real");
	ok(ready && run.readings[0].count_raw == 123456, "and its count is the recording's");
	run_free(&run);
	ops->end(c);

	command.argv = missing;
	c = NULL;
	bool started = ops->prepare(b, &target, events, 1, &c, &err) && ops->go(c, &err);
	ok(!started && err.code == ERROR_NOT_FOUND,
	   "a program that is not there is an error, whatever is recorded");
	ops->end(c);

	command.argv = argv;
	c = NULL;
	ready = ops->prepare(b, &target, events, 1, &c, &err);
	pid = ready ? ops->process(c) : 0;
	ops->end(c);
	ok(pid > 0 && waitpid(pid, &status, 0) < 0 && errno == ECHILD,
	   "a program that was never let go is ended and reaped");
	ops->close(b);
	close(out[0]);
	close(out[1]);
}

int main(void)
{
	test_refusals();
	test_places();
	test_availability();
	test_room();
	test_readings();
	test_order();
	test_samples();
	test_rows();
	test_breaks();
	test_program();
	return done();
}

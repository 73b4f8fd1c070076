/* measure/ over a backend that is scripted: passes, repetitions, streams, interrupts, estimates. */
#include "measure/measure.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "measure_fake.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct event_definition counted = {
	.name = "counted", .unit = "things", .counted_by = COUNTED_BY_PERF};
static const struct event_definition elapsed = {
	.name = "elapsed-time", .unit = "ns", .counted_by = COUNTED_BY_PROCESS};
static const struct event_definition memory = {
	.name = "peak-memory", .unit = "bytes", .counted_by = COUNTED_BY_PROCESS};
static const struct event_definition faults = {
	.name = "page-faults", .unit = "faults", .counted_by = COUNTED_BY_PERF | COUNTED_BY_PROCESS};

#define EVENT(text_, row)                                                                                         \
	{                                                                                                         \
		.text = text_, .label = text_, .definition = row, .levels = LEVEL_USER | LEVEL_KERNEL             \
	}
static const struct event abcd[] = {EVENT("a", &counted), EVENT("b", &counted), EVENT("c", &counted),
				    EVENT("d", NULL)};

/* Runs `argv` under the fake; NULL when it fails. */
static struct result *measure(struct backend *b, char *const *argv, const struct event *events, size_t n,
			      const struct metric *const *metrics, size_t n_metrics,
			      struct measure_options options, struct error *err)
{
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct result *result = NULL;
	options.size = sizeof options;
	if (options.repetitions == 0)
		options.repetitions = 1;
	if (options.confidence == 0)
		options.confidence = 0.95;
	bool done_ = measure_count(&fake_operations, b, &target, events, n, metrics, n_metrics, &options, &result,
				   err);
	if (done_ != (result != NULL))
		printf("# result and success disagree\n");
	return result;
}

static char *const do_nothing[] = {"true", NULL};

static bool has_note(const struct result *result, const char *part)
{
	for (size_t i = 0; i < result->n_notes; i++)
		if (strstr(result->notes[i].text, part))
			return true;
	for (size_t i = 0; i < result->n_notes; i++)
		printf("# note: %s\n", result->notes[i].text);
	return false;
}

static void plan(void)
{
	const struct event *events[] = {&abcd[0], &abcd[1], &abcd[2], &abcd[3]};
	struct backend b = {.counters = 4};
	size_t group[4];
	ok(measure_plan(&fake_operations, &b, events, 4, false, group) == 1 && b.fits_asked == 1,
	   "events that fit are one group, after one trial");
	b.counters = 2;
	ok(measure_plan(&fake_operations, &b, events, 4, false, group) == 2 && group[0] == 0 && group[1] == 0 &&
		   group[2] == 1 && group[3] == 1,
	   "first-fit fills a group before it opens the next");
	b.counters = 0;
	ok(measure_plan(&fake_operations, &b, events, 4, false, group) == 4 && group[3] == 3,
	   "events that fit nowhere get a group each");
	ok(measure_plan(&fake_operations, &b, events, 0, false, group) == 0, "no events are no groups");

	static const struct event *many[4096];
	static size_t groups[4096];
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = &abcd[i % 4];
	b = (struct backend){.counters = 4};
	ok(measure_plan(&fake_operations, &b, many, COUNT(many), false, groups) == 1024 &&
		   b.fits_asked < 20 * COUNT(many),
	   "4096 events are split with a bounded number of trials each");
}

static void single(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	const struct event events[] = {EVENT("a", &counted), EVENT("elapsed-time", &elapsed),
				       EVENT("denied", &counted), EVENT("page-faults", &faults),
				       EVENT("peak-memory", &memory)};
	struct result *r = measure(&b, do_nothing, events, COUNT(events), NULL, 0, (struct measure_options){0},
				   &err);
	ok(r && b.fits_asked == 0, "a single event needs no trial of fitting");
	ok(r && r->executions == 1 && b.prepared == 1 && b.ended == 1 && r->warm_ups == 0,
	   "a plain run executes the program once");
	struct estimate *e = r->estimates;
	ok(e[0].known && e[0].value == 1000 && e[0].low == 1000 && e[0].high == 1000 && !e[0].has_interval &&
		   e[0].n_runs == 1 && e[0].source == SOURCE_HW && e[0].share_running == 1 &&
		   e[0].trust == TRUST_UNVERIFIED,
	   "one run's unscaled count is itself, without an interval");
	equal_text(e[0].level, "user+kernel", "an event's level is named");
	ok(e[1].known && e[1].value > 0 && e[1].source == SOURCE_OS && e[1].level[0] == '\0',
	   "the elapsed time comes from the clock");
	ok(!e[2].known && e[2].source == SOURCE_NONE, "what is denied is not known, not 0");
	equal_text(e[2].why, "perf_event_paranoid is 3", "what is denied says why");
	equal_text(e[2].note, "run 'sysctl kernel.perf_event_paranoid=1'",
		   "what is denied says what would allow it");
	ok(e[3].known && e[3].value > 10 && e[3].source == SOURCE_OS,
	   "faults that the backend cannot count come from the process account");
	ok(e[4].known && e[4].value > 100000, "the peak memory is the program's");
	equal_text(b.log, "a|", "events of the account are not given to the backend");
	ok(r->n_notes == 0 && r->n_outliers == 0, "a plain good run has nothing to remark");
	equal_text(r->command[0], "true", "the result knows its command");
	result_free(r);

	struct event user_time = events[1];
	user_time.levels = LEVEL_USER;
	b = (struct backend){.counters = 4};
	r = measure(&b, do_nothing, &user_time, 1, NULL, 0, (struct measure_options){0}, &err);
	ok(r && !r->estimates[0].known && strstr(r->estimates[0].why, "privilege level"),
	   "the account has no levels, and says so");
	result_free(r);
}

static void account_only(void)
{
	struct backend b = {.counters = 2};
	struct error err;
	const struct event events[] = {EVENT("elapsed-time", &elapsed), EVENT("peak-memory", &memory)};
	struct measure_options options = {.repetitions = 2};
	struct result *r = measure(&b, do_nothing, events, 2, NULL, 0, options, &err);
	ok(r && r->passes == 1 && r->executions == 3 && r->estimates[0].n_runs == 2 &&
		   r->estimates[0].has_interval,
	   "events of the account alone take one pass, repeated like others");
	result_free(r);
	r = measure(&b, do_nothing, events, 0, NULL, 0, (struct measure_options){0}, &err);
	ok(r && r->executions == 1 && r->n_estimates == 0, "no events at all still run the program once");
	result_free(r);
}

static void some_missing(struct backend *b, size_t execution, const char *event, struct reading *r)
{
	(void)b;
	(void)event;
	if (execution == 2)
		*r = (struct reading){.state = READING_FAILED, .why = "the counter was taken away", .cpu = -1};
}

static void missing(void)
{
	struct backend b = {.counters = 2, .read = some_missing};
	struct error err;
	struct result *r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 3},
				   &err);
	ok(r && r->estimates[0].known && r->estimates[0].n_runs == 2,
	   "a run without a count is left out, not taken as 0");
	equal_text(r->estimates[0].note, "1 of 3 runs gave no count: the counter was taken away",
		   "… and that is said");
	result_free(r);
}

static void repeated(void)
{
	struct backend b = {.counters = 2};
	struct error err;
	struct result *r = measure(&b, do_nothing, abcd, 3, NULL, 0, (struct measure_options){.repetitions = 3},
				   &err);
	equal_text(b.log, "a b|a b|c|a b|c|a b|c|",
		   "a warm-up, then for each repetition each pass: run_p5mon's order");
	ok(r->executions == 7 && r->passes == 2 && r->warm_ups == 1 && r->repetitions_done == 3,
	   "executions = passes × repetitions + warm-ups");
	ok(r->estimates[2].n_runs == 3 && r->estimates[2].has_interval && r->estimates[2].low == 1000 &&
		   r->estimates[2].high == 1000,
	   "repetitions that agree have an interval of width 0");
	result_free(r);

	b = (struct backend){.counters = 2};
	r = measure(&b, do_nothing, abcd, 3, NULL, 0, (struct measure_options){.several_runs = true}, &err);
	equal_text(b.log, "a b|a b|c|", "--several-runs counts each group in a run of its own after a warm-up");
	result_free(r);
	b = (struct backend){.counters = 2};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.several_runs = true}, &err);
	ok(r->executions == 1, "--several-runs of one group needs no warm-up and no second run");
	result_free(r);
	b = (struct backend){.counters = 2};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0,
		    (struct measure_options){.repetitions = 2, .has_warm_ups = true}, &err);
	ok(r->executions == 2 && r->warm_ups == 0, "warm-ups can be refused");
	result_free(r);

	b = (struct backend){.counters = 2};
	r = measure(&b, do_nothing, abcd, 3, NULL, 0, (struct measure_options){.repetitions = 500001}, &err);
	ok(!r && err.code == ERROR_LIMIT && b.prepared == 0,
	   "more than a million executions are refused before the first");
	r = measure(&b, do_nothing, abcd, 3, NULL, 0, (struct measure_options){.repetitions = SIZE_MAX}, &err);
	ok(!r && err.code == ERROR_LIMIT, "the largest number of repetitions does not wrap around");
	r = measure(&b, do_nothing, abcd, 3, NULL, 0,
		    (struct measure_options){.has_warm_ups = true, .warm_ups = SIZE_MAX}, &err);
	ok(!r && err.code == ERROR_LIMIT, "the largest number of warm-ups is refused");
}

static void by_execution(struct backend *b, size_t execution, const char *event, struct reading *r)
{
	(void)b;
	/* execution 0 is the warm-up */
	r->count_raw = event[0] == 'a' ? 10 * execution : 5 * execution;
}

static void estimates(void)
{
	struct backend b = {.counters = 2, .read = by_execution};
	struct error err;
	const struct metric ratio = {"ratio", {"a", "b"}}, timed = {"timed", {"a", "elapsed-time"}},
			    missing = {"missing", {"a", "z"}};
	const struct metric *metrics[] = {&ratio, &timed, &missing};
	const struct event events[] = {EVENT("a", &counted), EVENT("b", &counted),
				       EVENT("elapsed-time", &elapsed)};
	struct result *r = measure(&b, do_nothing, events, 3, metrics, 3,
				   (struct measure_options){.repetitions = 3}, &err);
	struct estimate *e = r->estimates;
	/* 10 20 30: mean 20, sd 10, t(0.975, 2) = 4.30265 */
	ok(e[0].value == 20 && e[0].runs[0] == 10 && e[0].runs[2] == 30,
	   "the warm-up is not in the mean, the runs are in their order");
	near(e[0].high, 20 + 4.302653 * 10 / sqrt(3), 1e-4, "the interval over repetitions is Student's");
	ok(e[0].low == 0, "a count's interval does not reach below 0");
	e = r->metrics;
	ok(e[0].known && e[0].value == 2 && e[0].has_interval && e[0].low == 2 && e[0].high == 2 &&
		   e[0].n_runs == 3,
	   "a metric of one pass is taken run by run: what varies together cancels");
	ok(e[1].known && e[1].n_runs == 3 && e[1].value > 0, "a metric may divide by the time of the same runs");
	ok(!e[2].known && strstr(e[2].why, "'z'"), "a metric whose event was not counted names it");
	result_free(r);

	b = (struct backend){.counters = 1, .read = by_execution};
	r = measure(&b, do_nothing, events, 2, metrics, 1, (struct measure_options){.repetitions = 3}, &err);
	ok(r->metrics[0].known && r->metrics[0].n_runs == 0 && r->metrics[0].low < r->metrics[0].value,
	   "a metric over several passes propagates the intervals");
	result_free(r);
}

/* Half of the time counted, at 10 events per time unit: 10 units a slice. */
static void half_sample(struct backend *b, size_t call, const char *event, struct reading *r)
{
	(void)b;
	(void)event;
	r->enabled_ns = 10 * (call + 1);
	r->running_ns = 5 * (call + 1);
	r->count_raw = 50 * (call + 1);
}

static void half_read(struct backend *b, size_t execution, const char *event, struct reading *r)
{
	(void)execution;
	if (strcmp(event, "never") == 0) {
		r->state = READING_NEVER_RAN;
		r->running_ns = r->count_raw = 0;
		return;
	}
	half_sample(b, b->sampled, event, r);
}

static void multiplexed(void)
{
	struct backend b = {.counters = 2, .read = half_read, .sample = half_sample, .end_after = 6};
	struct error err;
	char *const sleeps[] = {"sleep", "60", NULL};
	const struct event events[] = {EVENT("a", &counted), EVENT("b", &counted), EVENT("never", &counted)};
	struct result *r = measure(&b, sleeps, events, 3, NULL, 0, (struct measure_options){0}, &err);
	struct estimate *e = r->estimates;
	ok(r->executions == 1 && b.prepared == 1, "events that do not fit do not make the program run twice");
	ok(b.sampled >= 6, "a multiplexed run is read slice by slice");
	double total = 100.0 * (double)(b.sampled + 1);
	ok(e[0].source == SOURCE_SCALED && e[0].share_running == 0.5 && fabs(e[0].value - total) < 1e-6 * total &&
		   e[0].has_interval && e[0].low >= total / 2 && e[0].low < e[0].value && isfinite(e[0].high),
	   "half of the time counted: scaled to twice, with the share and an interval");
	ok(!e[2].known && e[2].why, "a counter that never ran is not counted, not 0");
	equal_text(e[2].note, "it had no turn on the counters; --several-runs would count it",
		   "… and what would count it is said");
	ok(has_note(r, "3 events did not fit the counters at once: --several-runs counts each all the time, "
		       "in 2 executions"),
	   "one line says what --several-runs would give");
	result_free(r);

	b = (struct backend){.counters = 2, .read = half_read, .sample = half_sample};
	r = measure(&b, do_nothing, events, 2, NULL, 0, (struct measure_options){0}, &err);
	ok(b.sampled == 0, "a run that fits is not read on the way");
	ok(r->estimates[0].source == SOURCE_SCALED && isinf(r->estimates[0].high) && r->estimates[0].low == 50,
	   "a counter that lost its place unexpectedly has a lower bound only");
	result_free(r);

	struct event kernel[] = {events[0], events[1], events[2]};
	kernel[0].levels = LEVEL_KERNEL;
	b = (struct backend){.counters = 2, .read = half_read, .sample = half_sample, .end_after = 6};
	r = measure(&b, sleeps, kernel, 3, NULL, 0, (struct measure_options){0}, &err);
	total = 100.0 * (double)(b.sampled + 1);
	ok(isinf(r->estimates[0].high) && r->estimates[0].low == total / 2 && isfinite(r->estimates[1].high),
	   "a shared kernel-level counter has what it counted as lower bound, and no upper one");
	ok(has_note(r, "kernel-level counts are lower bounds"), "… and a remark says why");
	result_free(r);

	b = (struct backend){.counters = 2, .read = half_read, .sample = half_sample, .fail_sample = true};
	r = measure(&b, do_nothing, events, 3, NULL, 0, (struct measure_options){0}, &err);
	ok(r && isinf(r->estimates[0].high), "when reading on the way fails, the bound is lost and not the count");
	result_free(r);
}

static char *read_back(int fd)
{
	static char text[4096];
	ssize_t got = pread(fd, text, sizeof text - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

/* Runs `sh -c script` with the given input, output to a file of its own; returns the output. */
static char *with_streams(const char *script, int input_fd, struct measure_options options, struct result **result)
{
	struct backend b = {.counters = 4};
	struct error err = {0};
	char *const argv[] = {"sh", "-c", (char *)script, NULL};
	int out = memfd_create("out", MFD_CLOEXEC);
	struct command command = {.argv = argv, .stdin_fd = input_fd, .stdout_fd = out, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	options.size = sizeof options;
	options.confidence = 0.95;
	*result = NULL;
	if (!measure_count(&fake_operations, &b, &target, abcd, 1, NULL, 0, &options, result, &err))
		printf("# %s\n", err.text);
	char *text = read_back(out);
	close(out);
	return text;
}

static void streams(void)
{
	struct result *r;
	int file = memfd_create("in", MFD_CLOEXEC), pipe_fd[2];
	if (write(file, "skipped line\n", 13) != 13 || pipe(pipe_fd) != 0 || write(pipe_fd[1], "line\n", 5) != 5)
		printf("# cannot set up\n");
	close(pipe_fd[1]);
	struct measure_options options = {.repetitions = 3, .program_output = OUTPUT_ALL};
	lseek(file, 8, SEEK_SET);
	equal_text(with_streams("cat", file, options, &r), "line\nline\nline\nline\n",
		   "a regular file is read afresh, from where it stood, by each run");
	result_free(r);
	equal_text(with_streams("cat", pipe_fd[0], options, &r), "line\nline\nline\nline\n",
		   "a pipe is read afresh by each run");
	result_free(r);
	close(pipe_fd[0]);

	/* /proc/self/fd/1 would tell: the hidden output is not /dev/null, whose users behave differently */
	options.program_output = OUTPUT_FIRST;
	equal_text(with_streams("echo out", -1, options, &r), "out\n",
		   "of repeated runs the first one's output is shown");
	result_free(r);
	options.program_output = OUTPUT_NONE;
	options.repetitions = 1;
	equal_text(with_streams("echo out; test -f /proc/self/fd/1", -1, options, &r), "", "output can be hidden");
	ok(r && WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == 0,
	   "hidden output is a file to the program, not /dev/null");
	result_free(r);
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;
	if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0)
		slave = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave >= 0) {
		options.repetitions = 2;
		with_streams("true", slave, options, &r);
		ok(r && has_note(r, "the standard input is a terminal"),
		   "a terminal as input is shared, and that is said");
		result_free(r);
		options.repetitions = 1;
	} else {
		skip("no pseudo-terminal here", "a terminal as input is shared, and that is said");
	}
	lseek(file, 8, SEEK_SET);
	options.program_output = OUTPUT_FIRST;
	equal_text(with_streams("read first; cat", file, options, &r), "", "a single run reads the input itself");
	ok(lseek(file, 0, SEEK_CUR) == 13, "a single run leaves the input where it stopped reading");
	result_free(r);
	close(file);
}

static void endings(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	struct result *r;
	/* the program counts its runs in a file: the third ends differently */
	char path[] = "/tmp/tare-measure-XXXXXX", script[256];
	close(mkstemp(path));
	snprintf(script, sizeof script, "echo x >>%s; test $(wc -l <%s) != 3 || exit 7", path, path);
	char *const argv[] = {"sh", "-c", script, NULL};
	r = measure(&b, argv, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 4}, &err);
	ok(r->repetitions_done == 4 && r->estimates[0].n_runs == 4, "a run that fails is counted");
	ok(has_note(r, "exit status differs between runs: exit status 0 in 3, exit status 7 in 1 (execution 3)"),
	   "… and named");
	result_free(r);
	unlink(path);
	char *const dies[] = {"sh", "-c", "kill -SEGV $$", NULL};
	r = measure(&b, dies, abcd, 1, NULL, 0, (struct measure_options){0}, &err);
	ok(has_note(r, "killed by signal 11 (SIGSEGV)"), "a death by signal is noted");
	ok(WIFSIGNALED(r->wait_status) && WTERMSIG(r->wait_status) == SIGSEGV, "the status is the program's");
	result_free(r);

	b = (struct backend){.counters = 4, .fail_prepare = 4};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 5}, &err);
	ok(r && r->repetitions_done == 2 && r->estimates[0].n_runs == 2 &&
		   has_note(r, "stopped after 3 executions: too many open files"),
	   "what was measured before a failure is in the result");
	result_free(r);
	b = (struct backend){.counters = 4, .fail_prepare = 1};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 5}, &err);
	ok(!r && strcmp(err.text, "too many open files") == 0,
	   "a failure before anything was measured is the error");
	b = (struct backend){.counters = 4, .fail_prepare = 2};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 5}, &err);
	ok(!r, "a warm-up alone is not a measurement");
}

static volatile sig_atomic_t interrupt_flag;

static void on_alarm(int signal)
{
	(void)signal;
	interrupt_flag = SIGINT;
}

/* Ends who waits for that FIFO to be written, as soon as he does. */
static void let_go(const char *fifo)
{
	int fd;
	while ((fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO)
		usleep(1000);
	close(fd);
}

static void interrupts(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	struct sigaction action = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &action, NULL);
	/* the programs themselves tell when they have come to the point */
	char *const sleeps[] = {"sh", "-c", "kill -ALRM $PPID; exec sleep 100", NULL};
	interrupt_flag = 0;
	struct result *r = measure(&b, sleeps, abcd, 1, NULL, 0,
				   (struct measure_options){.interrupt = &interrupt_flag}, &err);
	ok(r && r->interrupted && r->estimates[0].known && r->elapsed_seconds < 100,
	   "an interrupt ends the run and keeps what was counted");
	ok(r && WIFSIGNALED(r->wait_status) && WTERMSIG(r->wait_status) == SIGINT && r->n_notes == 0,
	   "a signal that tare alone got is passed on to the program, which then ends");
	ok(r && r->repetitions_done == 0, "an interrupted repetition is not complete");
	result_free(r);

	/* the first two executions are short, then one hangs */
	char path[] = "/tmp/tare-measure-XXXXXX", script[256];
	close(mkstemp(path));
	snprintf(script, sizeof script,
		 "echo x >>%s; test $(wc -l <%s) != 4 || { kill -ALRM $PPID; exec sleep 100; }", path, path);
	char *const argv[] = {"sh", "-c", script, NULL};
	interrupt_flag = 0;
	b = (struct backend){.counters = 4, .read = by_execution};
	r = measure(&b, argv, abcd, 1, NULL, 0,
		    (struct measure_options){.repetitions = 9, .interrupt = &interrupt_flag}, &err);
	ok(r && r->interrupted && r->repetitions_done == 2 && r->estimates[0].n_runs == 2 &&
		   r->estimates[0].value == 15,
	   "complete repetitions are reported, the one cut short is not among them");
	result_free(r);
	unlink(path);

	/* it stays until it is let go, however long tare takes to find out */
	char fifo[] = "/tmp/tare-measure-XXXXXX", waits[256];
	close(mkstemp(fifo));
	unlink(fifo);
	if (mkfifo(fifo, 0600) != 0)
		printf("# no FIFO\n");
	snprintf(waits, sizeof waits, "trap '' INT; kill -ALRM $PPID; read line <%s", fifo);
	char *const stubborn[] = {"sh", "-c", waits, NULL};
	interrupt_flag = 0;
	b = (struct backend){.counters = 4};
	r = measure(&b, stubborn, abcd, 1, NULL, 0, (struct measure_options){.interrupt = &interrupt_flag}, &err);
	ok(r && r->interrupted && has_note(r, "did not end within 2 s"),
	   "a program that ignores the interrupt is left running, and that is said");
	result_free(r);
	let_go(fifo);
	unlink(fifo);
	interrupt_flag = SIGINT;
	b = (struct backend){.counters = 4};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.interrupt = &interrupt_flag},
		    &err);
	ok(!r && b.prepared == 0, "an interrupt before the first execution starts nothing");
}

static void one_odd(struct backend *b, size_t execution, const char *event, struct reading *r)
{
	(void)b;
	(void)event;
	r->count_raw = 100000 + execution + (execution == 4 ? 50000 : 0);
}

static void outliers(void)
{
	struct backend b = {.counters = 4, .read = one_odd};
	struct error err;
	/* the same execution faults more: a megabyte of zeros in the shell */
	char path[] = "/tmp/tare-measure-XXXXXX", script[256];
	close(mkstemp(path));
	snprintf(script, sizeof script,
		 "echo x >>%s; if test $(wc -l <%s) = 5; then x=$(head -c 4000000 /dev/zero | tr '\\0' a); fi",
		 path, path);
	char *const argv[] = {"sh", "-c", script, NULL};
	struct result *r = measure(&b, argv, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 8}, &err);
	ok(r->n_outliers == 1 && r->outliers[0].repetition == 3, "the repetition that stands out is named");
	ok(r->n_outliers && strstr(r->outliers[0].cause, "minor page faults (median "),
	   "… with what else stood out in that run");
	ok(r->estimates[0].note && strstr(r->estimates[0].note, "run 4 is an outlier"),
	   "… and the estimate says so");
	result_free(r);
	unlink(path);
	b = (struct backend){.counters = 4, .read = one_odd};
	r = measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.repetitions = 4}, &err);
	ok(r->n_outliers == 0, "four repetitions are too few to call one an outlier");
	result_free(r);
}

static void by_row(struct backend *b, size_t execution, const char *event, struct reading *r)
{
	(void)b;
	(void)execution;
	(void)event;
	r->count_raw = r->cpu == 0 ? 10 : 32;
}

static void rows(void)
{
	struct backend b = {.counters = 4, .rows = 2, .read = by_row};
	struct error err;
	struct target target = {.kind = TARGET_CPUS, .per_cpu = true};
	struct measure_options options = {
		.size = sizeof options, .repetitions = 1, .confidence = 0.95, .delay_ns = 20000000};
	struct result *r;
	const struct event events[] = {EVENT("a", &counted), EVENT("elapsed-time", &elapsed)};
	bool done_ = measure_count(&fake_operations, &b, &target, events, 2, NULL, 0, &options, &r, &err);
	ok(done_ && r->n_estimates == 4, "per CPU: a total and a row each");
	ok(done_ && r->estimates[0].value == 42 && r->estimates[0].cpu == -1, "the total is the rows' sum");
	ok(done_ && r->estimates[1].value == 10 && r->estimates[1].cpu == 0 && r->estimates[2].value == 32 &&
		   r->estimates[2].cpu == 1,
	   "rows are in the order of the CPUs");
	ok(done_ && r->estimates[3].value >= 2e7 && r->estimates[3].value < 2e10,
	   "without a program the delay ends the counting");
	equal_text(done_ ? r->target : NULL, "all CPUs", "the target is named");
	result_free(r);
}

/* Of the first row all is known, of the second what it did at least, of the rest nothing. */
static void by_ended(struct backend *b, size_t execution, const char *event, struct reading *r)
{
	static const uint64_t counts[] = {10, 3, 0};
	(void)b;
	(void)execution;
	r->count_raw = counts[r->cpu];
	r->source = strcmp(event, "a") == 0 ? SOURCE_EXACT : SOURCE_MODEL;
	if (r->cpu == 0)
		return;
	r->state = READING_FAILED;
	r->why = "it still runs";
	r->has_least = r->cpu == 1 && r->source == SOURCE_EXACT;
	if (r->cpu == 2) {
		r->source = SOURCE_NONE;
		r->cpu = -1; /* of no row */
	}
}

static void unfinished_rows(void)
{
	struct backend b = {.counters = 4, .rows = 3, .read = by_ended};
	struct error err;
	struct target target = {.kind = TARGET_CPUS, .per_cpu = true};
	struct measure_options options = {
		.size = sizeof options, .repetitions = 1, .confidence = 0.95, .delay_ns = 1};
	struct result *r;
	bool done_ = measure_count(&fake_operations, &b, &target,
				   (struct event[]){EVENT("a", &counted), EVENT("b", &counted)}, 2, NULL, 0,
				   &options, &r, &err);
	const struct estimate *e = done_ ? r->estimates : NULL;
	ok(done_ && r->n_estimates == 6 && e[1].known && e[1].value == 10 && !e[2].known && e[2].has_least &&
		   e[2].least == 3 && e[4].known && !e[5].known,
	   "a row that is known is counted beside those that are not, and what is of no row has none");
	ok(done_ && !e[0].known && e[0].has_least && e[0].least == 13 && e[0].least_source == SOURCE_EXACT,
	   "the total is then not known, and at least what the exact rows counted");
	equal_text(done_ ? e[0].why : NULL, "it still runs", "and says why it is not known");
	ok(done_ && !e[3].known && !e[3].has_least, "what rows of a model counted is a bound of nothing");
	result_free(r);
}

/* Until a process sleeps; without an end if it never does, as the test's time-out tells. */
static void until_asleep(pid_t pid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	for (;;) {
		FILE *file = fopen(path, "re");
		text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
		if (!file)
			return;
		fclose(file);
		const char *name_ends = strrchr(text, ')');
		if (name_ends && name_ends[1] == ' ' && name_ends[2] == 'S')
			return;
	}
}

/* A target that is a process of the test's own; `end` makes it end. */
static void attached(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	pid_t pid = fork();
	if (pid == 0) {
		usleep(100000);
		_exit(0);
	}
	struct target target = {.kind = TARGET_PROCESSES, .pids = &pid, .n_pids = 1};
	struct measure_options options = {.size = sizeof options, .repetitions = 1, .confidence = 0.95};
	struct result *r;
	const struct event events[] = {EVENT("a", &counted), EVENT("peak-memory", &memory)};
	/* nobody reaps it meanwhile: a zombie has ended */
	bool done_ = measure_count(&fake_operations, &b, &target, events, 2, NULL, 0, &options, &r, &err);
	ok(done_ && r->estimates[0].known && r->elapsed_seconds < 10 && !r->interrupted,
	   "an attached measurement ends with its process");
	ok(done_ && !r->estimates[1].known && strstr(r->estimates[1].why, "programs that tare starts"),
	   "an attached process has no account of ours");
	int status;
	ok(waitpid(pid, &status, 0) == pid, "the attached process is not reaped by tare");
	result_free(r);

	/* the interrupt comes once counting has begun and tare sleeps */
	int began[2];
	if (pipe(began) != 0)
		printf("# no pipe\n");
	pid_t helper = fork();
	if (helper == 0) {
		char byte;
		close(began[1]);
		if (read(began[0], &byte, 1) == 1) {
			until_asleep(getppid());
			kill(getppid(), SIGALRM);
		}
		_exit(0);
	}
	b.told_fd = began[1];
	target = (struct target){.kind = TARGET_CPUS};
	interrupt_flag = 0;
	options.interrupt = &interrupt_flag;
	done_ = measure_count(&fake_operations, &b, &target, events, 1, NULL, 0, &options, &r, &err);
	ok(done_ && !r->interrupted && r->repetitions_done == 1,
	   "without a program and a delay, the interrupt is the normal end");
	result_free(r);
	close(began[0]);
	close(began[1]);
	waitpid(helper, NULL, 0);
}

static void ignored_children(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	char *const fails[] = {"sh", "-c", "exit 5", NULL};
	signal(SIGCHLD, SIG_IGN);
	struct result *r = measure(&b, fails, abcd, 1, NULL, 0, (struct measure_options){0}, &err);
	ok(r && WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == 5,
	   "an inherited ignored SIGCHLD does not lose the status");
	ok(signal(SIGCHLD, SIG_DFL) == SIG_IGN, "SIGCHLD is as it was afterwards");
	result_free(r);
	sigset_t mask;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ok(!sigismember(&mask, SIGINT) && !sigismember(&mask, SIGCHLD), "no signal stays blocked");
}

static size_t told;
static double told_left[8];

static void on_progress(void *context, const struct measure_progress *p)
{
	if (context == &told && told < 8 && p->execution == told + 1 && p->warm_up == (told == 0))
		told_left[told++] = p->left_seconds;
}

static void progress(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	struct result *r = measure(
		&b, do_nothing, abcd, 1, NULL, 0,
		(struct measure_options){.repetitions = 3, .progress = on_progress, .progress_context = &told},
		&err);
	ok(told == 4 && told_left[0] < 0 && told_left[3] > 0,
	   "progress is told before each execution, with the time left once it is known");
	result_free(r);
}

static void machine(void)
{
	struct arena arena = {0};
	struct machine_facts facts;
	ok(measure_machine_facts(&arena, &facts) && facts.cpus == (int)sysconf(_SC_NPROCESSORS_ONLN),
	   "the machine's CPUs that are online are counted");
	ok(facts.cpu[0] && facts.kernel[0] && facts.architecture[0] && facts.pmu[0] && facts.hypervisor,
	   "the machine's facts are there");
	printf("# %s, %s, %d CPUs, PMU %s, hypervisor '%s'\n", facts.cpu, facts.kernel, facts.cpus, facts.pmu,
	       facts.hypervisor);
	arena_free(&arena);
}

static void bad_options(void)
{
	struct backend b = {.counters = 4};
	struct error err;
	struct {
		struct measure_options options;
		char more[8];
	} grown = {.options = {.size = sizeof grown, .repetitions = 1, .confidence = 0.95}, .more = {1}};
	struct target target = {.kind = TARGET_CPUS};
	struct result *r;
	ok(!measure_count(&fake_operations, &b, &target, abcd, 1, NULL, 0, &grown.options, &r, &err) && !r,
	   "options of a newer version are refused when they are set");
	ok(!measure(&b, do_nothing, abcd, 1, NULL, 0, (struct measure_options){.confidence = 1.5}, &err),
	   "a confidence above 1 is refused");
}

/* An engine's execution has times, faults and memory that are not the program's. */
static void engine(void)
{
	const struct event events[] = {EVENT("a", &counted), EVENT("elapsed-time", &elapsed),
				       EVENT("b", &counted)};
	struct backend b = {.counters = 4, .engine = "a"};
	struct error err;
	struct result *r = measure(&b, do_nothing, events, 2, NULL, 0, (struct measure_options){0}, &err);
	ok(r && r->estimates[0].known && !r->estimates[1].known && strcmp(r->estimates[1].why, UNDER_ENGINE) == 0,
	   "the engine's own elapsed time is not passed off as the program's");
	result_free(r);

	b = (struct backend){.counters = 4, .engine = "a"};
	r = measure(&b, do_nothing, events, 2, NULL, 0,
		    (struct measure_options){.repetitions = 2, .has_warm_ups = true}, &err);
	ok(r && r->passes == 2 && r->executions == 4 && r->estimates[1].known && strcmp(b.log, "a||a||") == 0,
	   "several runs give it an execution of its own");
	result_free(r);

	b = (struct backend){.counters = 1, .engine = "a"};
	r = measure(&b, do_nothing, events, 3, NULL, 0, (struct measure_options){.several_runs = true}, &err);
	ok(r && r->passes == 2 && r->estimates[1].known, "unless one of the passes is native anyway");
	result_free(r);

	b = (struct backend){.counters = 4, .engine = "a"};
	r = measure(&b, do_nothing, events, 1, NULL, 0, (struct measure_options){.several_runs = true}, &err);
	ok(r && r->passes == 1, "and nothing is executed for an account that nobody asked for");
	result_free(r);
}

int main(void)
{
	plan();
	single();
	account_only();
	missing();
	repeated();
	estimates();
	multiplexed();
	streams();
	endings();
	interrupts();
	outliers();
	rows();
	unfinished_rows();
	attached();
	ignored_children();
	progress();
	machine();
	bad_options();
	engine();
	return done();
}

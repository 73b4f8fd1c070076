/* Sampling by the perf backend: samples of known work fall where the work is, and as many as the arithmetic says; what
 * is lost is counted. Page faults at gap 1 are deterministic: each page that is touched for the first time is one. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include "backend/sampling.h"
#include "perf_program.h"

/* ---- what a sink saw ---- */

enum { SEEN_MOST = 400000 };

struct seen_sample {
	uint64_t time_ns, address, data_address, gap;
	uint32_t pid, tid, event;
	bool kernel;
};

struct seen {
	struct seen_sample *samples;
	size_t n_samples, callers, stacks, registers;
	uint64_t mappings, started, named, ended, execs, build_ids;
	uint64_t last_ns;
	bool disorder;
	struct {
		uint64_t address, bytes, offset;
		uint32_t pid;
	} code[4096]; /* executable mappings of this program's file */
	size_t n_code;
	char self[512];
	uint32_t tids[64];
	size_t n_tids;
};

static struct seen seen;

static void at(uint64_t time_ns)
{
	seen.disorder = seen.disorder || time_ns < seen.last_ns;
	seen.last_ns = time_ns;
}

static bool on_sample(void *context, const struct sample *s, struct error *err)
{
	(void)context, (void)err;
	at(s->time_ns);
	if (seen.n_samples < SEEN_MOST)
		seen.samples[seen.n_samples++] = (struct seen_sample){
			s->time_ns, s->address, s->data_address, s->gap, s->pid, s->tid, s->event, s->kernel};
	seen.callers += s->n_callers > 2;
	seen.registers += s->registers != NULL;
	seen.stacks += s->stack_bytes > 0;
	size_t i = 0;
	while (i < seen.n_tids && seen.tids[i] != s->tid)
		i++;
	if (i == seen.n_tids && i < 64)
		seen.tids[seen.n_tids++] = s->tid;
	return true;
}

static bool on_mapping(void *context, const struct sampled_mapping *m, struct error *err)
{
	(void)context, (void)err;
	at(m->time_ns);
	seen.mappings++;
	seen.build_ids += m->build_id_bytes > 0;
	if (m->executable && strcmp(m->path, seen.self) == 0 && seen.n_code < 4096) {
		seen.code[seen.n_code].address = m->address;
		seen.code[seen.n_code].bytes = m->bytes;
		seen.code[seen.n_code].offset = m->offset;
		seen.code[seen.n_code++].pid = m->pid;
	}
	return true;
}

static bool on_started(void *context, const struct sampled_task *t, struct error *err)
{
	(void)context, (void)err;
	at(t->time_ns);
	seen.started++;
	return true;
}

static bool on_named(void *context, const struct sampled_task *t, bool by_exec, struct error *err)
{
	(void)context, (void)err;
	at(t->time_ns);
	seen.named += t->name && t->name[0];
	seen.execs += by_exec;
	return true;
}

static bool on_ended(void *context, const struct sampled_task *t, struct error *err)
{
	(void)context, (void)err;
	at(t->time_ns);
	seen.ended++;
	return true;
}

static const struct sampling_sink sink = {NULL, on_sample, on_mapping, on_started, on_named, on_ended, NULL, NULL};

static void forget(void)
{
	struct seen_sample *samples = seen.samples ? seen.samples : malloc(SEEN_MOST * sizeof *samples);
	seen = (struct seen){.samples = samples};
	ssize_t n = readlink(ME, seen.self, sizeof seen.self - 1);
	if (!samples || n < 0)
		_exit(97);
}

/* ---- sampling a role of this program ---- */

static struct sampled_event fixed(const char *request, uint64_t gap)
{
	return (struct sampled_event){.event = event(request), .gaps = GAPS_FIXED, .gap = gap};
}

/* Samples this program in a role to its end. False with the reason on stdout. */
static bool sample_role(const struct sampling_request *request, const char *role, const char *argument,
			bool follow, struct sampling_account *accounts)
{
	const struct sampling_operations *sampling = perf->sampling;
	struct command command = command_of(role, argument);
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = follow};
	struct sampling *s;
	struct error err = {0};
	int status;
	forget();
	if (!sampling->prepare(backend, &target, request, &sink, &s, &err) || !sampling->go(s, &err)) {
		printf("# %s: %s (%s)\n", role, err.text, err.hint);
		if (s)
			sampling->end(s);
		return false;
	}
	bool done = true;
	while (done && waitpid(sampling->process(s), &status, WNOHANG) == 0)
		done = sampling->drain(s, 20, &err);
	done = done && sampling->stop(s, accounts, &err);
	sampling->end(s);
	if (!done)
		printf("# %s: %s\n", role, err.text);
	return done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static struct sampling_account one_account;

/* How long a role burns. In the guest each millisecond is 10^6 emulated instructions; there every sample comes when
 * arithmetic says, so that a quarter of the time tells as much. */
static const char *burn_ms(unsigned milliseconds)
{
	static char text[16];
	snprintf(text, sizeof text, "%u", getenv("TARE_IN_GUEST") ? milliseconds / 4 : milliseconds);
	return text;
}

static bool sample_one(const char *request, uint64_t gap, const char *role, const char *argument, bool follow)
{
	struct sampled_event asked = fixed(request, gap);
	struct sampling_request r = {.events = &asked, .n_events = 1};
	return sample_role(&r, role, argument, follow, &one_account);
}

/* How many samples lie in this file's code from `from` on, and at most so many bytes behind it. */
static size_t samples_in(const void *from, size_t bytes)
{
	char line[1024];
	uint64_t low, high, offset, own = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &low, &high, &offset) == 3 &&
		    (uintptr_t)from >= low && (uintptr_t)from < high)
			own = (uintptr_t)from - low + offset;
	if (maps)
		fclose(maps);
	size_t n = 0;
	for (size_t i = 0; i < seen.n_samples; i++) {
		const struct seen_sample *s = &seen.samples[i];
		for (size_t m = 0; m < seen.n_code; m++) {
			if (s->address < seen.code[m].address ||
			    s->address - seen.code[m].address >= seen.code[m].bytes)
				continue;
			uint64_t place = s->address - seen.code[m].address + seen.code[m].offset;
			n += place >= own && place < own + bytes;
			break;
		}
	}
	return n;
}

enum { TOUCH_BYTES = 400 }; /* more than touch() has, less than lies between it and other code that faults */

static void test_faults(void)
{
	ok(sample_one("page-faults:u", 1, "touch", "3000", false), "page faults are sampled");
	equal_u64(one_account.samples + one_account.lost, one_account.count,
		  "at gap 1 there are as many samples as page faults");
	equal_u64(seen.n_samples, one_account.samples, "and each came to the sink");
	ok(seen.n_samples >= 3000, "of 3000 touched pages each is one (%zu)", seen.n_samples);
#if !defined(SANITIZED)
	equal_u64(samples_in((const void *)(uintptr_t)touch, TOUCH_BYTES) / 100, 30,
		  "in the function that touched them");
#endif
	ok(!seen.disorder, "all came in the order of time");
	ok(seen.execs == 1 && seen.named >= 1, "the program's exec was seen");
	ok(seen.mappings >= 1 && seen.n_code >= 1, "and its mappings (%" PRIu64 ", %" PRIu64 " with a build id)",
	   seen.mappings, seen.build_ids);
	equal_u64(seen.ended, 1, "and its end");

	ok(sample_one("page-faults:u", 10, "touch", "3000", false), "at gap 10");
	/* each CPU that the program ran on has less than a gap left over */
	uint64_t most = one_account.count / 10, cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	ok(one_account.samples <= most && one_account.samples + cpus > most,
	   "a tenth of the faults are samples (%" PRIu64 " of %" PRIu64 ")", one_account.samples,
	   one_account.count);
	bool gaps = true;
	for (size_t i = 0; i < seen.n_samples; i++)
		gaps = gaps && seen.samples[i].gap == 10;
	ok(gaps, "and each stands for 10");
}

/* A host that takes the CPU away delays the timers of the kernel's clocks, and neither event nor samples say so. So
 * what such a clock's samples show is measured until it was shown, at most so often: what always holds is seen at
 * the first undisturbed time, and a defect is there each time. */
enum { DISTURBED_MOST = 8 };

/* As often as the count says, but for what was left of a gap on each CPU when the program ended or moved on? */
static bool clock_as_counted(const char *clock)
{
	for (int i = 0; i < DISTURBED_MOST; i++) {
		if (!sample_one(clock, 1000000, "burn", burn_ms(200), false))
			return false;
		double expected = (double)one_account.count / 1e6, samples = (double)one_account.samples;
		printf("# %s: %.0f samples of %.1f\n", clock, samples, expected);
		if (samples > expected + 1)
			return false;
		if (samples >= 0.8 * expected - 8)
			return true;
	}
	return false;
}

static void test_clocks(void)
{
	ok(clock_as_counted("cpu-clock"), "cpu-clock is sampled as often as its count says");
	ok(clock_as_counted("task-clock"), "so is task-clock");
}

/* ---- threads, children, exec ---- */

#if !defined(SANITIZED)
static size_t tasks_with(size_t least)
{
	size_t n = 0;
	for (size_t i = 0; i < seen.n_tids; i++) {
		size_t its = 0;
		for (size_t j = 0; j < seen.n_samples; j++)
			its += seen.samples[j].tid == seen.tids[i];
		n += its >= least;
	}
	return n;
}
#endif

static void test_heirs(void)
{
	ok(sample_one("page-faults:u", 1, "thread", "500", false), "a program with a thread");
	equal_u64(one_account.samples + one_account.lost, one_account.count,
		  "the thread's faults are samples, too");
#if !defined(SANITIZED)
	equal_u64(seen.started, 1, "the thread's start was seen");
	equal_u64(tasks_with(500), 1, "and the 500 are the thread's");
	equal_u64(samples_in((const void *)(uintptr_t)touch, TOUCH_BYTES) / 100, 5, "in the function that it ran");
#endif
	ok(sample_one("page-faults:u", 1, "fork", "500", false), "a program with a child that is not followed");
#if !defined(SANITIZED)
	ok(seen.n_samples < 500, "has no samples of the child (%zu)", seen.n_samples);
#endif
	equal_u64(seen.n_tids, 1, "has one task");
	ok(sample_one("page-faults:u", 1, "fork", "500", true), "and with one that is");
	equal_u64(one_account.samples + one_account.lost, one_account.count, "has as many as faults");
#if !defined(SANITIZED)
	equal_u64(tasks_with(500), 1, "500 of them the child's");
	equal_u64(seen.ended, 2, "and two ends");
#endif
	ok(sample_one("page-faults:u", 1, "exec", "touch", true), "a program that executes another");
	equal_u64(seen.execs, 2, "both execs were seen");
	ok(seen.n_samples >= 300, "and the samples of both (%zu)", seen.n_samples);
}

/* ---- losing ---- */

static void test_loss(void)
{
	struct sampled_event asked = fixed("page-faults:u", 1);
	struct sampling_request r = {.events = &asked, .n_events = 1, .buffer_bytes = 4096};
	struct command command = command_of("touch", "3000");
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct sampling_account account;
	struct sampling *s;
	struct error err = {0};
	int status;
	forget();
	if (!ok(perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && perf->sampling->go(s, &err),
		"a ring of one page that nobody empties: %s", err.text))
		return;
	waitpid(perf->sampling->process(s), &status, 0);
	bool stopped = perf->sampling->stop(s, &account, &err);
	perf->sampling->end(s);
	ok(stopped && account.lost > 2000, "loses samples (%" PRIu64 ")", account.lost);
	equal_u64(account.samples + account.lost, account.count,
		  "and what it obtained and lost is all that took place");
	ok(account.lost_facts > 0, "the program's end, which found no room, is told of, too (%" PRIu64 ")",
	   account.lost_facts);
}

/* ---- gaps that are drawn ---- */

static struct sampling_account drawn_account, witness;

/* With a witness: the same clock at a fixed gap, in the same run. A host that takes the CPU away adds to the clocks
 * and delays their timers, to both alike. */
static bool sample_drawn(enum profile_gaps gaps, uint32_t redraw, const char *role, const char *argument)
{
	struct sampled_event asked[2] = {fixed("task-clock", 200000), fixed("task-clock", 200000)};
	struct sampling_account accounts[2];
	asked[0].gaps = gaps;
	struct sampling_request r = {.events = asked, .n_events = 2, .seed = 5, .redraw = redraw};
	bool done = sample_role(&r, role, argument, true, accounts);
	drawn_account = accounts[0];
	witness = accounts[1];
	return done;
}

/* tid 0: of all tasks. */
static size_t samples_of(uint32_t event, uint32_t tid)
{
	size_t n = 0;
	for (size_t i = 0; i < seen.n_samples; i++)
		n += seen.samples[i].event == event && (!tid || seen.samples[i].tid == tid);
	return n;
}

/* 6 deviations: of a Poisson process, or more where gaps were used for longer than they are meant for, as
 * the account tells; and what each CPU may lose of gaps that had begun. */
static bool is_due(const char *what, double samples, double due)
{
	double run = fmax(drawn_account.redraw / 4.0, 1);
	double room = 6 * sqrt(due * run) + 4 * (double)sysconf(_SC_NPROCESSORS_ONLN);
	printf("# %s: %.0f samples, and %.0f are due; a gap lasted %" PRIu32 " samples\n", what, samples, due,
	       drawn_account.redraw);
	return fabs(samples - due) < room;
}

/* The first thread burns alone, while gaps are drawn; then three others burn, and all have one mean gap. A thread may
 * start while the events are opened for it: it has had some milliseconds then. */
static bool threads_alike(void)
{
	enum { START_MOST = 25 };
	size_t n = 0, alike = 0;
	for (size_t i = 0; i < seen.n_tids; i++) {
		size_t drawn = samples_of(0, seen.tids[i]), due = samples_of(1, seen.tids[i]);
		if (due < 50)
			continue;
		bool first = seen.tids[i] == seen.samples[0].pid;
		printf("# %s: %zu samples, and %zu with a fixed gap\n", first ? "the first thread" : "a thread",
		       drawn, due);
		n++;
		alike += first || ((double)drawn < 1.1 * (double)due + 4 &&
				   (double)(drawn + START_MOST) > 0.9 * (double)due);
	}
	return n == 4 && alike == 4;
}

static void test_drawn(void)
{
	ok(sample_drawn(GAPS_EXPONENTIAL, 1, "burn", burn_ms(200)), "exponential gaps are sampled");
	ok(drawn_account.redraws >= 20 && drawn_account.redraw >= 1,
	   "and redrawn (%" PRIu64 " times for %" PRIu64 " samples)", drawn_account.redraws,
	   drawn_account.samples);
#if !defined(SANITIZED)
	equal_u64(drawn_account.redrawn_until_ns, 0, "to the end, as no other task began");
#endif
	size_t near_mean = 0, all = 0;
	uint64_t last_ns = 0;
	for (size_t i = 0; i < seen.n_samples; i++) {
		if (seen.samples[i].event != 0)
			continue;
		uint64_t gap = seen.samples[i].time_ns - last_ns;
		near_mean += gap > 190000 && gap < 210000;
		last_ns = seen.samples[i].time_ns;
		all++;
	}
	ok(near_mean < all / 2, "no two gaps are the same (%zu of %zu near the mean)", near_mean, all);
	ok(seen.n_samples && seen.samples[0].gap == 200000, "each sample stands for the mean");

	ok(drawn_account.has_count, "a clock of all levels is the count of what was sampled");
	ok(sample_one("cpu-clock:u", 1000000, "burn", "20", true) && one_account.samples > 0 &&
		   !one_account.has_count,
	   "one of the user's level is not: it runs in the kernel, too");
	ok(sample_one("page-faults:u", 1, "burn", "20", true) && one_account.has_count,
	   "page faults of one level are");
	ok(sample_drawn(GAPS_EXPONENTIAL, 1, "burners", burn_ms(100)), "until a thread begins");
	ok(drawn_account.redrawn_until_ns != 0, "which is said");
	ok(threads_alike(), "and all threads that began have the same gap");
}

/* How often a time with drawn gaps is sampled must be how often one with fixed gaps is: shares of both would be
 * wrong otherwise. gaps_test.c has the same of a simulated kernel, more strictly. */
static void test_rates(void)
{
	static const uint32_t redraws[] = {1, 2, 4, 16};
	char what[64];
	for (size_t i = 0; i < sizeof redraws / sizeof *redraws; i++) {
		snprintf(what, sizeof what, "gaps of 200 us, drawn every %u samples", redraws[i]);
		ok(sample_drawn(GAPS_EXPONENTIAL, redraws[i], "burn", burn_ms(200)) &&
			   is_due(what, (double)drawn_account.samples, (double)witness.samples),
		   "%s: as many samples as with a fixed gap", what);
	}
	struct sampled_event asked = fixed("page-faults:u", 100);
	asked.gaps = GAPS_EXPONENTIAL;
	struct sampling_request r = {.events = &asked, .n_events = 1, .seed = 3, .data_addresses = true};
	ok(sample_role(&r, "touch", "30000", true, &drawn_account) &&
		   is_due("page faults", (double)drawn_account.samples, (double)drawn_account.count / 100),
	   "page faults at drawn gaps: as many samples as are due");
	ok(sample_drawn(GAPS_EXPONENTIAL, 0, "burners", burn_ms(100)) &&
		   is_due("both together", (double)drawn_account.samples, (double)witness.samples),
	   "drawn gaps, and then threads: as many samples as with a fixed gap");
	uint32_t first = seen.n_samples ? seen.samples[0].pid : 0;
	ok(is_due("the time alone", (double)samples_of(0, first), (double)samples_of(1, first)),
	   "and so has the time alone");
}

/* Setting the gap of a software event makes a sample of its next occurrence, which is no sample of the gap: pages are
 * touched in order, so that the address says how many faults there were between two samples. */
static void test_bursts(void)
{
	struct sampled_event asked = fixed("page-faults:u", 100);
	asked.gaps = GAPS_EXPONENTIAL;
	struct sampling_request r = {.events = &asked, .n_events = 1, .seed = 3, .data_addresses = true};
	const char *pages = getenv("TARE_IN_GUEST") ? "4000" : "10000";
	if (!ok(sample_role(&r, "touch_slowly", pages, true, &drawn_account), "page faults that come slowly"))
		return;
	size_t near = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 1; i < seen.n_samples; i++) {
		uint64_t step = (seen.samples[i].data_address - seen.samples[i - 1].data_address) / page;
		near += step > 0 &&
			step < 100 / 8; /* the least gap: half of the mean, by the factor 1/4 at least */
	}
#if !defined(SANITIZED) /* a sanitizer has page faults of its own between those */
	ok(drawn_account.redraws > 10 && near <= drawn_account.redraws / 20,
	   "no sample is of the setting of a gap (%zu of %" PRIu64 " settings)", near, drawn_account.redraws);
#else
	(void)near;
#endif
}

/* ---- what runs already; switching on and off ---- */

static void test_attached(void)
{
	struct sampled_event asked = fixed("page-faults:u", 1);
	struct sampling_request r = {.events = &asked, .n_events = 1, .disabled = true};
	struct sampling_account account;
	struct sampling *s;
	struct error err = {0};
	int order[2], answer[2];
	char byte;
	if (pipe(order) != 0 || pipe(answer) != 0)
		return;
	pid_t child = fork();
	if (child == 0) {
		close(order[1]);
		while (read(order[0], &byte, 1) == 1) {
			touch(byte == 'a' ? 100 : 1000);
			if (write(answer[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	struct target target = {.kind = TARGET_PROCESSES, .pids = &child, .n_pids = 1};
	forget();
	ok(perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && perf->sampling->go(s, &err),
	   "a process that runs already: %s", err.text);
	bool did = write(order[1], "a", 1) == 1 && read(answer[0], &byte, 1) == 1;
	did = did && perf->sampling->enable(s, true, &err);
	did = did && write(order[1], "b", 1) == 1 && read(answer[0], &byte, 1) == 1;
	did = did && perf->sampling->enable(s, false, &err);
	did = did && write(order[1], "a", 1) == 1 && read(answer[0], &byte, 1) == 1;
	did = did && perf->sampling->drain(s, 0, &err) && perf->sampling->stop(s, &account, &err);
	perf->sampling->end(s);
	close(order[1]);
	waitpid(child, NULL, 0);
	ok(did, "is switched on and off: %s", err.text);
	equal_u64(account.samples + account.lost, account.count, "samples are of the time between");
#if !defined(SANITIZED)
	ok(seen.n_samples >= 1000 && seen.n_samples < 1100, "the 1000 pages then, not the 200 others (%zu)",
	   seen.n_samples);
#endif
	ok(seen.n_code >= 1 && seen.named >= 1, "its mappings and name are known");
#if !defined(SANITIZED)
	equal_u64(samples_in((const void *)(uintptr_t)touch, TOUCH_BYTES) / 100, 10,
		  "so that its samples have a place");
#endif
}

/* Linux drops a sample or two of so many (src/backend/perf/sample/sampling.c): one that is counted is told of as lost. */
static void test_switched_often(void)
{
	enum { SWITCHINGS = 500 };
	struct sampled_event asked = fixed("page-faults:u", 1);
	struct sampling_request r = {.events = &asked, .n_events = 1, .disabled = true};
	struct sampling_account account = {0};
	struct sampling *s;
	struct error err = {0};
	volatile unsigned *touched = mmap(NULL, sizeof *touched, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (touched == MAP_FAILED)
		abort();
	pid_t child = fork();
	if (child == 0)
		for (;; ++*touched)
			touch(100);
	struct target target = {.kind = TARGET_PROCESSES, .pids = &child, .n_pids = 1};
	forget();
	bool did = perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && perf->sampling->go(s, &err);
	for (int i = 0; did && i < SWITCHINGS; i++) {
		unsigned before = *touched;
		did = perf->sampling->enable(s, true, &err);
		while (*touched - before <
		       2) /* a whole round is in this turn, however late the machine lets the child run */
			usleep(500);
		did = did && perf->sampling->enable(s, false, &err) && perf->sampling->drain(s, 0, &err);
	}
	did = did && perf->sampling->stop(s, &account, &err);
	perf->sampling->end(s);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap((void *)touched, sizeof *touched);
	ok(did && account.count >= 100 * SWITCHINGS, "is switched on and off while it faults: %s", err.text);
	equal_u64(account.samples + account.lost, account.count, "each fault is a sample, or lost");
}

/* A thread starts the next one and ends, again and again, until it is told to touch pages and say so. */
struct relay {
	int order, answer;
	long pages;
};

static void *relay_thread(void *data)
{
	struct relay *relay = data;
	struct timespec pause = {.tv_nsec = 20000000};
	char byte;
	if (read(relay->order, &byte, 1) == 1) {
		touch((size_t)relay->pages);
		if (write(relay->answer, &byte, 1) != 1)
			_exit(96);
	}
	pthread_t next;
	nanosleep(&pause, NULL);
	if (pthread_create(&next, NULL, relay_thread, data) == 0)
		pthread_detach(next);
	return NULL;
}

/* Whoever is attached to while threads start has all of them, or is refused: not all but one. */
static void test_relay(void)
{
	enum { ATTACHED = 10, PAGES = 1000 };
	int order[2], answer[2], whole = 0, refused = 0;
	char byte;
	if (pipe(order) != 0 || pipe(answer) != 0)
		return;
	pid_t child = fork();
	if (child == 0) {
		struct relay relay = {order[0], answer[1], PAGES};
		close(order[1]);
		fcntl(order[0], F_SETFL, O_NONBLOCK);
		relay_thread(&relay);
		for (;;)
			pause();
	}
	for (int i = 0; i < ATTACHED; i++) {
		struct sampled_event asked = fixed("page-faults:u", 1);
		struct sampling_request r = {.events = &asked, .n_events = 1};
		struct target target = {.kind = TARGET_PROCESSES, .pids = &child, .n_pids = 1};
		struct sampling_account account;
		struct sampling *s;
		struct error err = {0};
		forget();
		if (!perf->sampling->prepare(backend, &target, &r, &sink, &s, &err)) {
			printf("# %s\n", err.text);
			refused += err.code == ERROR_BUSY;
			continue;
		}
		bool did = perf->sampling->go(s, &err) && write(order[1], "a", 1) == 1 &&
			   read(answer[0], &byte, 1) == 1 && perf->sampling->stop(s, &account, &err);
		perf->sampling->end(s);
		whole += did && seen.n_samples >= PAGES && account.samples + account.lost == account.count;
		if (!did || seen.n_samples < PAGES)
			printf("# %zu samples: %s\n", seen.n_samples, err.text);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(whole + refused == ATTACHED,
	   "attached to while threads start: all of them are sampled, or it is refused (%d, %d of %d)", whole,
	   refused, ATTACHED);
}

/* ---- what else a sample can carry ---- */

static void test_carried(void)
{
	struct sampled_event asked[2] = {fixed("page-faults:u", 1), fixed("cpu-clock", 1000000)};
	struct sampling_account accounts[2];
	struct sampling_request r = {
		.events = asked, .n_events = 2, .stacks = STACKS_FRAME_POINTER, .data_addresses = true};
	ok(sample_role(&r, "burn_touch", "50", false, accounts),
	   "two events at once, with callers and data addresses");
	equal_u64(accounts[0].samples + accounts[0].lost, accounts[0].count, "the first has all of its samples");
	ok(accounts[1].samples >= 20, "and so has the second (%" PRIu64 ")", accounts[1].samples);
	ok(seen.callers > seen.n_samples / 4, "samples have callers (%zu of %zu)", seen.callers, seen.n_samples);
	size_t with = 0, faults = 0;
	for (size_t i = 0; i < seen.n_samples; i++) {
		faults += seen.samples[i].event == 0;
		with += seen.samples[i].event == 0 && seen.samples[i].data_address != 0;
	}
	ok(faults > 500 && with > faults * 9 / 10, "and faults the address that was touched (%zu of %zu)", with,
	   faults);
#if defined(__x86_64__)
	r.stacks = STACKS_DWARF;
	ok(sample_role(&r, "burn_touch", "50", false, accounts), "with the user's stack");
	ok(seen.registers > seen.n_samples * 9 / 10 && seen.stacks > seen.n_samples * 9 / 10,
	   "registers and stack are there (%zu, %zu of %zu)", seen.registers, seen.stacks, seen.n_samples);
#endif
	struct sampled_event rate = {.event = event("cpu-clock"), .gaps = GAPS_RATE, .rate = 1000};
	r = (struct sampling_request){.events = &rate, .n_events = 1};
	bool sampled = true, about_one = false;
	for (int i = 0; i < DISTURBED_MOST && sampled && !about_one; i++) {
		sampled = sample_role(&r, "burn", "100", false, accounts);
		double counted_ms = (double)accounts[0].count / 1e6, samples = (double)accounts[0].samples;
		printf("# 1000 a second: %.0f in %.1f ms\n", samples, counted_ms);
		about_one = samples >= 0.6 * counted_ms && samples <= counted_ms + 1;
	}
	ok(sampled && about_one, "a rate of 1000 a second gives about one in each ms");
}

/* ---- CPUs ---- */

static void test_whole_cpus(void)
{
	struct sampled_event asked = fixed("page-faults", 1);
	struct sampling_request r = {.events = &asked, .n_events = 1};
	struct sampling_account account;
	struct sampling *s;
	struct error err = {0};
	struct target target = {.kind = TARGET_CPUS};
	forget();
	if (!perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) || !perf->sampling->go(s, &err)) {
		if (s)
			perf->sampling->end(s);
		skip(err.text, "whole CPUs are sampled");
		return;
	}
	touch(500);
	touch_forked(500);
	bool did = perf->sampling->stop(s, &account, &err);
	perf->sampling->end(s);
	ok(did && account.samples + account.lost == account.count, "whole CPUs are sampled: %s", err.text);
	size_t own = 0;
	for (size_t i = 0; i < seen.n_samples; i++)
		own += seen.samples[i].pid == (uint32_t)getpid();
	ok(own >= 500, "tare's own faults are among them (%zu)", own);
	ok(seen.started >= 1 && seen.n_code >= 1, "and what its processes start");
}

/* ---- several events, and several samplings, of one page fault ---- */

static size_t samples_of_event(uint32_t number)
{
	size_t n = 0;
	for (size_t i = 0; i < seen.n_samples; i++)
		n += seen.samples[i].event == number;
	return n;
}

/* Linux since 6.3 gives the samples of a software event the id of the one that the same occurrence hit first. */
static void test_hit_together(void)
{
	struct sampled_event both[2] = {fixed("page-faults:u", 1), fixed("page-faults", 1)};
	struct sampling_account accounts[2] = {0}, other = {0};
	struct sampling_request r = {.events = both, .n_events = 2};
	ok(sample_role(&r, "touch", "1000", false, accounts), "two events of the same page faults");
	for (uint32_t i = 0; i < 2; i++) {
		equal_u64(accounts[i].samples + accounts[i].lost, accounts[i].count, "each has its own samples");
		equal_u64(samples_of_event(i), accounts[i].samples, "and the sink has them as that event's");
	}
	both[1].gap = 7;
	bool did = sample_role(&r, "touch", "1000", false, accounts);
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), most = accounts[1].count / 7; /* as at gap 10 */
	ok(did && accounts[0].samples + accounts[0].lost == accounts[0].count && accounts[1].samples <= most &&
		   accounts[1].samples + cpus > most,
	   "with gaps that differ, too (%" PRIu64 " of %" PRIu64 ", %" PRIu64 " of %" PRIu64 ")",
	   accounts[0].samples, accounts[0].count, accounts[1].samples, accounts[1].count);

	/* the other sampling has the same process's faults, and is begun before and ended after */
	struct sampled_event asked = fixed("page-faults:u", 1), later = fixed("page-faults:u", 1);
	struct sampling_request first = {.events = &asked, .n_events = 1},
				second = {.events = &later, .n_events = 1};
	struct sampling *s1 = NULL, *s2 = NULL;
	struct error err = {0};
	pid_t self = getpid();
	struct target target = {.kind = TARGET_PROCESSES, .pids = &self, .n_pids = 1};
	forget();
	did = perf->sampling->prepare(backend, &target, &first, &sink, &s1, &err) &&
	      perf->sampling->prepare(backend, &target, &second, &sink, &s2, &err) &&
	      perf->sampling->go(s1, &err) && perf->sampling->go(s2, &err);
	touch(500);
	did = did && perf->sampling->stop(s2, &other, &err) && perf->sampling->stop(s1, &accounts[0], &err);
	ok(did, "two samplings of one process: %s", err.text);
	ok(other.count >= 500 && other.samples + other.lost == other.count &&
		   accounts[0].samples + accounts[0].lost == accounts[0].count,
	   "each has its own samples (%" PRIu64 ", %" PRIu64 ")", accounts[0].samples, other.samples);
	perf->sampling->end(s1);
	perf->sampling->end(s2);
}

/* Several rings of a CPU are each smaller than one alone: each asks to be read before it is full. */
static void test_rings_wake(void)
{
	struct sampled_event asked[4];
	struct sampling_request r = {.events = asked, .n_events = 4};
	struct sampling *s = NULL;
	struct sampling_account accounts[4] = {0};
	struct error err = {0};
	pid_t self = getpid();
	struct target target = {.kind = TARGET_PROCESSES, .pids = &self, .n_pids = 1};
	cpu_set_t allowed, one;
	for (size_t i = 0; i < r.n_events; i++)
		asked[i] = fixed(i % 2 ? "minor-faults:u" : "page-faults:u", 1);
	sched_getaffinity(0, sizeof allowed, &allowed);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one); /* all samples of an event are in one ring */
	forget();
	bool did = perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && perf->sampling->go(s, &err);
	touch(1000);
	struct pollfd wakes = {.fd = did ? perf->sampling->wakes(s) : -1, .events = POLLIN};
	bool woken = did && poll(&wakes, 1, 10000) == 1, lost = false;
	did = did && perf->sampling->stop(s, accounts, &err);
	for (size_t i = 0; i < r.n_events; i++) {
		did = did && accounts[i].count >= 1000 &&
		      accounts[i].samples + accounts[i].lost == accounts[i].count;
		lost = lost || accounts[i].lost; /* a user who may lock nothing more has smaller rings */
	}
	ok(did, "four events of the same page faults: %s", err.text);
	ok(woken || lost, "their rings wake before any of them is full");
	perf->sampling->end(s);
	sched_setaffinity(0, sizeof allowed, &allowed);
}

/* ---- the PMU ---- */

enum { HARDWARE_GAP = 10007 };

static void test_hardware(void)
{
	enum reading_state state;
	char why[256];
	perf->sampling->available(backend, event("cycles:u"), &state, why);
	if (state != READING_COUNTED) {
		skip(lacking("cycles:u") ? lacking("cycles:u") : why, "cycles are sampled");
		return;
	}
	ok(sample_one("cycles:u", HARDWARE_GAP, "loop", "10000000", false), "cycles are sampled");
	struct sampling_account first = one_account;
	ok(first.source == SOURCE_HW, "by the hardware");
	size_t inside = samples_in((const void *)(uintptr_t)stimulus_loop, 256), all = seen.n_samples;
	ok(inside > all * 99 / 100, "in the loop that used them (%zu of %zu)", inside, all);
	bool gaps = all > 0;
	for (size_t i = 0; i < seen.n_samples; i++)
		gaps = gaps && seen.samples[i].gap == HARDWARE_GAP;
	ok(gaps, "and each stands for its gap");
	if (!getenv("TARE_IN_GUEST"))
		return;
	/* one CPU, and a PMU that counts exactly */
	equal_u64(first.samples, first.count / HARDWARE_GAP, "one in every gap, to the sample");
	ok(first.lost == 0 && first.throttled == 0, "and none is lost");
	sample_one("cycles:u", HARDWARE_GAP, "loop", "10000000", false);
	equal_u64(one_account.samples, first.samples, "as many the next time");
	struct sampled_event asked = fixed("cycles:u", HARDWARE_GAP);
	asked.gaps = GAPS_EXPONENTIAL;
	struct sampling_request r = {.events = &asked, .n_events = 1, .seed = 1};
	ok(sample_role(&r, "loop", "10000000", false, &one_account) && one_account.redraws > 10,
	   "gaps are redrawn (%" PRIu64 " times for %" PRIu64 " samples)", one_account.redraws,
	   one_account.samples);
	double due = (double)one_account.count / HARDWARE_GAP;
	ok(fabs((double)one_account.samples - due) < 6 * sqrt(due) + 4,
	   "as many samples as the mean gap says (%" PRIu64 " of %.0f)", one_account.samples, due);
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < seen.n_samples; i++) {
		least = seen.samples[i].gap < least ? seen.samples[i].gap : least;
		most = seen.samples[i].gap > most ? seen.samples[i].gap : most;
	}
	/* half of the mean, by a factor of 1/4 to 4 (struct gap_course) */
	ok(least >= HARDWARE_GAP / 8 && least < HARDWARE_GAP * 7 / 10 && most > HARDWARE_GAP,
	   "and the kernel says which was in force (%" PRIu64 " … %" PRIu64 ")", least, most);
	perf->sampling->available(backend, event("instructions:u"), &state, why);
	ok(state == READING_UNSUPPORTED, "an event whose overflow does not work is found out by trial: %s", why);
}

/* The kernel pauses an event that has more samples in one of its ticks than perf_event_max_sample_rate allows. The
 * limit is the whole machine's: it is lowered in the guest alone, which has one root and runs one test at a time. */
static void test_throttled(void)
{
	static const char limit[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	char before[32] = "";
	FILE *file = getenv("TARE_IN_GUEST") ? fopen(limit, "r+e") : NULL;
	if (!file)
		return;
	bool set = fgets(before, sizeof before, file) && fseek(file, 0, SEEK_SET) == 0 &&
		   fputs("250", file) >= 0 && fclose(file) == 0;
	ok(set && sample_one("cpu-clock", 100000, "burn", burn_ms(200), false) && one_account.throttled > 0,
	   "that the kernel paused sampling is told (%" PRIu64 " times)", one_account.throttled);
	file = fopen(limit, "we");
	set = file && fputs(before, file) >= 0 && fclose(file) == 0;
	ok(set && sample_one("cpu-clock", 1000000, "burn", burn_ms(200), false) && one_account.throttled == 0,
	   "below its limit it does not");
}

static void test_refusals(void)
{
	struct sampling_request r = {.n_events = 1};
	struct sampled_event asked = fixed("page-faults:u", 0);
	struct command command = command_of("touch", "1");
	struct target target = {.kind = TARGET_COMMAND, .command = &command};
	struct sampling *s;
	struct error err = {0};
	r.events = &asked;
	ok(!perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && !s && err.code == ERROR_USAGE,
	   "no gap is an error: %s", err.text);
	asked = fixed("cpu-clock", 9999);
	ok(!perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && !s && err.code == ERROR_USAGE,
	   "so is a gap of a clock that the kernel would make longer: %s", err.text);
	asked = fixed("context-switches:u", 1);
	ok(!perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && !s && err.code == ERROR_UNSUPPORTED,
	   "so is an event that cannot be: %s", err.text);
	asked = fixed("page-faults:u", 1);
	pid_t nobody = 0x3ffffff;
	target = (struct target){.kind = TARGET_PROCESSES, .pids = &nobody, .n_pids = 1};
	ok(!perf->sampling->prepare(backend, &target, &r, &sink, &s, &err) && !s && err.code == ERROR_NOT_FOUND,
	   "and a process that is not there: %s", err.text);
}

/* A machine that is disturbed enough may give none. */
static bool cost_is_known(const struct event *event, enum profile_stacks stacks, struct sampling_cost *cost)
{
	for (int i = 0; i < DISTURBED_MOST; i++)
		if (perf->sampling->cost(backend, event, stacks, 0, cost))
			return true;
	return false;
}

static void test_cost(void)
{
	struct sampling_cost cost = {0};
	bool known = cost_is_known(event("cpu-clock"), STACKS_NONE, &cost);
	/* more than an interrupt can be, and less than a slow machine's */
	ok(known && cost.sample_ns > 100 && cost.sample_ns < 1e6, "a sample's cost is measured (%.0f ns)",
	   cost.sample_ns);
	ok(cost.events_per_ns == 1, "a nanosecond of a clock is one");
	known = cost_is_known(event("cpu-clock"), STACKS_DWARF, &cost);
	ok(known && cost.sample_ns > 100 && cost.sample_ns < 1e7, "and with a copy of the stack (%.0f ns)",
	   cost.sample_ns);
	known = perf->sampling->cost(backend, event("page-faults:u"), STACKS_NONE, 0, &cost);
	ok(!known || (cost.sample_ns > 0 && cost.events_per_ns > 0 && cost.events_per_ns < 1),
	   "a page fault takes more than a nanosecond (%g in each)", cost.events_per_ns);
	ok(!perf->sampling->cost(backend, event("context-switches:u"), STACKS_NONE, 0, &cost),
	   "of an event that cannot be sampled none is");
}

static void tests(void)
{
	enum reading_state state;
	char why[256];
	ok(perf->sampling != NULL, "the perf backend samples");
	perf->sampling->available(backend, event("page-faults:u"), &state, why);
	ok(state == READING_COUNTED, "page faults can be sampled: %s", why);
	test_faults();
	test_clocks();
	test_heirs();
	test_loss();
	test_drawn();
	test_rates();
	test_bursts();
	test_attached();
	test_switched_often();
	test_relay();
	test_carried();
	test_whole_cpus();
	test_hit_together();
	test_rings_wake();
	test_hardware();
	test_refusals();
	test_throttled();
	test_cost();
}

static void *burn_thread(void *milliseconds)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		stimulus_loop(10000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		 *(long *)milliseconds);
	return NULL;
}

/* Roles that perf_program.h does not have. */
static bool play_more(char **argv)
{
	long n = argv[2] ? atol(argv[2]) : 0;
	if (strcmp(argv[1], "burners") == 0) {
		pthread_t threads[3];
		burn_thread(&n);
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, burn_thread, &n);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	} else if (strcmp(argv[1], "touch_slowly") == 0) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		volatile char *memory = mmap(NULL, (size_t)n * page, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			_exit(99);
		madvise((void *)memory, (size_t)n * page, MADV_NOHUGEPAGE);
		for (long i = 0; i < n; i++, stimulus_loop(20000))
			memory[(size_t)i * page] = 1;
	} else if (strcmp(argv[1], "burn_touch") == 0) {
		burn_thread(&n);
		touch(500);
	} else if (strcmp(argv[1], "loop") == 0) {
		stimulus_loop((uint64_t)n);
	} else if (strcmp(argv[1], "exec") == 0) {
		char *next[] = {argv[0], argv[2], (char *)"300", NULL};
		touch(10);
		execv(ME, next);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	if (argc > 1 && play_more(argv))
		return 0;
	return perf_main(argc, argv, tests);
}

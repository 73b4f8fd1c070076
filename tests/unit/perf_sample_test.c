/* Sampling by the perf backend: samples of known work fall where the work is, and as many as the arithmetic says; what
 * is lost is counted. Page faults at gap 1 are deterministic: each page that is touched for the first time is one. */
#include <errno.h>
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
		seen.samples[seen.n_samples++] = (struct seen_sample){s->time_ns, s->address, s->data_address, s->gap, s->pid, s->tid, s->event, s->kernel};
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

static const struct sampling_sink sink = {NULL, on_sample, on_mapping, on_started, on_named, on_ended};

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
static bool sample_role(const struct sampling_request *request, const char *role, const char *argument, bool follow, struct sampling_account *accounts)
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
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &low, &high, &offset) == 3 && (uintptr_t)from >= low && (uintptr_t)from < high)
			own = (uintptr_t)from - low + offset;
	if (maps)
		fclose(maps);
	size_t n = 0;
	for (size_t i = 0; i < seen.n_samples; i++) {
		const struct seen_sample *s = &seen.samples[i];
		for (size_t m = 0; m < seen.n_code; m++) {
			if (s->address < seen.code[m].address || s->address - seen.code[m].address >= seen.code[m].bytes)
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
	equal_u64(one_account.samples + one_account.lost, one_account.count, "at gap 1 there are as many samples as page faults");
	equal_u64(seen.n_samples, one_account.samples, "and each came to the sink");
	ok(seen.n_samples >= 3000, "of 3000 touched pages each is one (%zu)", seen.n_samples);
#if !defined(SANITIZED)
	equal_u64(samples_in((const void *)(uintptr_t)touch, TOUCH_BYTES) / 100, 30, "in the function that touched them");
#endif
	ok(!seen.disorder, "all came in the order of time");
	ok(seen.execs == 1 && seen.named >= 1, "the program's exec was seen");
	ok(seen.mappings >= 3, "and its mappings (%" PRIu64 ", %" PRIu64 " with a build id)", seen.mappings, seen.build_ids);
	equal_u64(seen.ended, 1, "and its end");

	ok(sample_one("page-faults:u", 10, "touch", "3000", false), "at gap 10");
	/* each CPU that the program ran on has less than a gap left over */
	uint64_t most = one_account.count / 10, cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	ok(one_account.samples <= most && one_account.samples + cpus > most, "a tenth of the faults are samples (%" PRIu64 " of %" PRIu64 ")", one_account.samples,
	   one_account.count);
	bool gaps = true;
	for (size_t i = 0; i < seen.n_samples; i++)
		gaps = gaps && seen.samples[i].gap == 10;
	ok(gaps, "and each stands for 10");
}

static void test_clocks(void)
{
	ok(sample_one("cpu-clock", 1000000, "burn", "200", false), "cpu-clock is sampled");
	double expected = (double)one_account.count / 1e6;
	/* what was left of a gap on each CPU when the program ended or moved on */
	ok((double)one_account.samples <= expected + 1 && (double)one_account.samples >= 0.8 * expected - 8,
	   "as often as its count says (%" PRIu64 " of %.1f)", one_account.samples, expected);
	ok(sample_one("task-clock", 1000000, "burn", "200", false), "so is task-clock");
	expected = (double)one_account.count / 1e6;
	ok((double)one_account.samples <= expected + 1 && (double)one_account.samples >= 0.8 * expected - 8,
	   "likewise (%" PRIu64 " of %.1f)", one_account.samples, expected);
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
}

int main(int argc, char **argv) { return perf_main(argc, argv, tests); }

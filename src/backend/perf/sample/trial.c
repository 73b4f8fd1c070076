#include "backend/perf/sample/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/ring/ring.h"
#include "backend/perf/sample/record.h"
#include "backend/perf/sample/streams.h"
#include "backend/perf/trial/stimulus.h"

bool sampling_is_clock(const struct event_encoding *encoding)
{
	return encoding->type == PERF_TYPE_SOFTWARE &&
	       (encoding->config == PERF_COUNT_SW_CPU_CLOCK || encoding->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* One event on this thread with a ring of its own. */
struct probe_sampler {
	int fd;
	struct ring ring;
};

/* more: what samples have beside their instruction, as bits of sample_type; stack_bytes: of STACK_USER. */
struct sampled_parts {
	uint64_t more;
	uint32_t stack_bytes;
};

static bool sampler_open(struct probe_sampler *p, const struct event_encoding *encoding, unsigned levels,
			 uint64_t gap, const struct sampled_parts *parts)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = encoding->type,
		.config = encoding->config,
		.config1 = encoding->config1,
		.config2 = encoding->config2,
		.sample_period = gap,
		.sample_type = PERF_SAMPLE_IP | parts->more,
		.sample_regs_user = parts->more & PERF_SAMPLE_REGS_USER ? record_registers() : 0,
		.sample_stack_user = parts->stack_bytes,
		.disabled = 1,
		.exclude_user = !(levels & LEVEL_USER),
		.exclude_kernel = !(levels & LEVEL_KERNEL),
		.exclude_hv = levels != (LEVEL_USER | LEVEL_KERNEL),
	};
	p->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->fd >= 0 && ring_map(&p->ring, p->fd, 64))
		return true;
	int reason = errno;
	if (p->fd >= 0)
		close(p->fd);
	errno = reason;
	return false;
}

static void sampler_close(struct probe_sampler *p)
{
	ring_unmap(&p->ring);
	close(p->fd);
}

struct taken {
	size_t samples;
	uint64_t lost; /* that the ring had no room for */
};

static struct taken sampler_take(struct probe_sampler *p)
{
	struct taken taken = {0};
	const struct perf_event_header *record;
	ring_begin(&p->ring);
	while ((record = ring_next(&p->ring))) {
		taken.samples += record->type == PERF_RECORD_SAMPLE;
		/* its id, and how many */
		if (record->type == PERF_RECORD_LOST && record->size >= sizeof *record + 16)
			taken.lost += ((const uint64_t *)(const void *)(record + 1))[1];
	}
	ring_end(&p->ring);
	return taken;
}

static uint64_t sampler_count(const struct probe_sampler *p)
{
	uint64_t count = 0;
	return read(p->fd, &count, sizeof count) == sizeof count ? count : 0;
}

/* Some milliseconds of one level: system calls that do little are the kernel's part. */
static void spend(unsigned levels)
{
	for (int i = 0; i < 40; i++) {
		if (levels & LEVEL_USER)
			stimulus_loop(50000);
		for (int call = 0; (levels & LEVEL_KERNEL) && call < 500; call++)
			syscall(SYS_getppid);
	}
}

/* False: this machine cannot do the work, and nothing is known. */
static bool work(const struct stimulus *stimulus, bool clock, unsigned levels)
{
	uint64_t least;
	if (clock) {
		spend(levels);
		return true;
	}
	return stimulus && stimulus->run(&least);
}

/* How often the known work holds the event: so that a gap of a quarter of it has to give samples. */
static uint64_t trial_gap(const struct stimulus *stimulus, bool clock)
{
	uint64_t least = 0;
	if (clock)
		return 100000; /* ns */
	if (!stimulus || !stimulus->run(&least) || least < 8)
		return 1;
	return least / 4;
}

static void say(char why[256], const char *text) { snprintf(why, 256, "%s", text); }

static void explain(struct backend *backend, const struct answer *answer, const struct event *event, int os_errno,
		    enum reading_state *state, char why[256], char remedy[256])
{
	struct attempt attempt = {.action = COUNTER_OPEN,
				  .event = answer->label,
				  .how = answer->how,
				  .levels = event->levels,
				  .type = answer->encoding.type,
				  .task = COUNTER_SELF,
				  .cpu = COUNTER_ANY_CPU,
				  .counters = 1};
	struct failure failure = failure_of(os_errno, &attempt, machine_state(backend));
	*state = failure_state(failure.code);
	say(why, failure.why);
	say(remedy, failure.step);
}

static void try_samples(struct backend *backend, const struct event *event, const struct answer *answer,
			bool clock, enum reading_state *state, char why[256], char remedy[256])
{
	const struct event_encoding *encoding = &answer->encoding;
	const struct stimulus *stimulus = stimulus_find(event, encoding, answer->variants.pmu, event->levels);
	struct probe_sampler sampler = {.fd = -1};
	uint64_t gap = trial_gap(stimulus, clock);
	if (!sampler_open(&sampler, encoding, event->levels, gap, &(struct sampled_parts){0})) {
		explain(backend, answer, event, errno, state, why, remedy);
		return;
	}
	*state = READING_COUNTED;
	ioctl(sampler.fd, PERF_EVENT_IOC_ENABLE, 0);
	bool known = false;
	for (int i = 0; i < 8; i++) /* a gap may need more than one turn of the work */
		known = work(stimulus, clock, event->levels) || known;
	ioctl(sampler.fd, PERF_EVENT_IOC_DISABLE, 0);
	struct taken taken = sampler_take(&sampler);
	uint64_t due = sampler_count(&sampler) / gap;
	/* of a clock one sample is enough: its timer may be late as often as a busy machine makes it */
	uint64_t least = clock ? 1 : due / 2 + 1;
	if (taken.samples == 0 && !known) {
		*state = READING_UNPROVEN;
		say(why, "not known to give samples: there is no trial of it");
	} else if (taken.samples + taken.lost < least || (!clock && taken.samples > 2 * due)) {
		*state = READING_UNSUPPORTED;
		snprintf(why, 256, "it counts, but its overflow gave %zu samples where %" PRIu64 " were due",
			 taken.samples, due);
	}
	sampler_close(&sampler);
}

void sampling_trial(struct backend *backend, const struct event *event, const struct answer **out,
		    enum reading_state *state, char why[256], char remedy[256])
{
	const struct answer *answer = *out = answer_find(backend, event);
	why[0] = remedy[0] = '\0';
	*state = READING_FAILED;
	if (!answer) {
		say(why, "out of memory");
		return;
	}
	const struct availability *counted = &answer->availability;
	/* the kernel's clocks count all levels alike, but samples of them are of the level asked for:
	 * perf_swevent_hrtimer() asks perf_exclude_event() */
	bool clock = sampling_is_clock(&answer->encoding) && answer->variants.n > 0;
	if (!clock && counted->state != READING_COUNTED && counted->state != READING_UNPROVEN) {
		*state = counted->state;
		say(why, counted->why);
		say(remedy, counted->remedy);
	} else if (answer->variants.whole_cpus) {
		*state = READING_UNSUPPORTED;
		say(why, "its PMU counts whole packages, and says nothing of where in a program");
	} else if (answer->encoding.scale != 0 && answer->encoding.scale != 1) {
		*state = READING_UNSUPPORTED;
		say(why, "its counts are in parts of its unit, and not sampled");
	} else {
		try_samples(backend, event, answer, clock, state, why, remedy);
	}
}

/* ---- what a sample costs ---- */

static uint64_t thread_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Many short ones: one undisturbed round of each kind is enough. */
enum { COST_ROUNDS = 36 };

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

static uint64_t timed(const struct stimulus *stimulus, bool clock, unsigned levels)
{
	uint64_t begin = thread_ns();
	work(stimulus, clock, levels);
	return thread_ns() - begin;
}

/* What streams.c asks for. */
static struct sampled_parts parts_of(enum profile_stacks stacks, uint32_t stack_bytes)
{
	struct sampled_parts parts = {.more = RECORD_COMMON};
	if (stacks == STACKS_NONE)
		return parts;
	parts.more |= PERF_SAMPLE_CALLCHAIN;
	if (record_registers()) {
		parts.more |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		parts.stack_bytes = streams_stack_bytes(stacks, stack_bytes);
	}
	return parts;
}

/* So far apart that the ring has room for a round's: those that it has no room for cost less. */
static uint64_t cost_gap(const struct stimulus *stimulus, bool clock, enum profile_stacks stacks)
{
	if (clock)
		return stacks == STACKS_DWARF ? 500000 : 50000; /* ns */
	uint64_t gap = (trial_gap(stimulus, clock) + 7) / 8;
	return stacks == STACKS_DWARF ? 8 * gap : gap;
}

bool sampling_cost(struct backend *backend, const struct event *event, enum profile_stacks stacks,
		   uint32_t stack_bytes, struct sampling_cost *out)
{
	const struct answer *answer;
	enum reading_state state;
	char why[256], remedy[256];
	double rates[COST_ROUNDS];
	sampling_trial(backend, event, &answer, &state, why, remedy);
	if (state != READING_COUNTED)
		return false;
	bool clock = sampling_is_clock(&answer->encoding);
	const struct stimulus *stimulus = stimulus_find(event, &answer->encoding, answer->variants.pmu,
							event->levels);
	struct probe_sampler sampler = {.fd = -1};
	const struct sampled_parts parts = parts_of(stacks, stack_bytes);
	if (!sampler_open(&sampler, &answer->encoding, event->levels, cost_gap(stimulus, clock, stacks), &parts))
		return false;
	/* what disturbs a machine, and a host that takes the CPU away, makes work longer and never shorter: so the
	 * least of each is the work itself */
	uint64_t least = UINT64_MAX, with[COST_ROUNDS];
	size_t n = 0, samples[COST_ROUNDS];
	for (int i = 0; i < COST_ROUNDS; i++) {
		uint64_t without = timed(stimulus, clock, event->levels), before = sampler_count(&sampler);
		least = without < least ? without : least;
		ioctl(sampler.fd, PERF_EVENT_IOC_ENABLE, 0);
		with[n] = timed(stimulus, clock, event->levels);
		ioctl(sampler.fd, PERF_EVENT_IOC_DISABLE, 0);
		samples[n] = sampler_take(&sampler).samples;
		if (samples[n] && without)
			rates[n++] = clock ? 1 : (double)(sampler_count(&sampler) - before) / (double)without;
	}
	sampler_close(&sampler);
	if (n < COST_ROUNDS)
		return false;
	double cost = INFINITY;
	for (size_t i = 0; i < n; i++) { /* not fmin(): libtare has this, too, and needs no libm */
		double each = ((double)with[i] - (double)least) / (double)samples[i];
		cost = each < cost ? each : cost;
	}
	qsort(rates, n, sizeof *rates, ascending);
	*out = (struct sampling_cost){.sample_ns = cost, .events_per_ns = rates[n / 2]};
	return out->sample_ns > 0 && out->events_per_ns > 0;
}

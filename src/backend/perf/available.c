/* Does an event work here? Its encodings are tried in order, each by counting something known, and the first that
 * counts it is the event's from then on. What does not work says what was seen.
 *
 * 1. errno explains a refusal; it never makes a counter good.
 * 2. Trials are made for events that are asked for only, once each. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/pmu.h"
#include "backend/perf/state.h"
#include "backend/perf/trial/answers.h"
#include "backend/perf/trial/trial.h"

/* The clocks of kernel/events/core.c (cpu_clock_event_*, task_clock_event_*) take the time between being scheduled
 * in and out, and never look at exclude_user or exclude_kernel: task-clock:u would be all of the time.
 * tests/unit/perf_test.c checks that this is still so. */
static bool ignores_levels(const struct event_encoding *encoding)
{
	return encoding->type == PERF_TYPE_SOFTWARE &&
	       (encoding->config == PERF_COUNT_SW_CPU_CLOCK || encoding->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* They take place in the scheduler, whatever the program was doing. */
static bool kernel_only(const struct event_encoding *encoding)
{
	return encoding->type == PERF_TYPE_SOFTWARE && (encoding->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
							encoding->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
							encoding->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static bool is_traced(const struct event_encoding *encoding, const char *pmu)
{
	return encoding->type == PERF_TYPE_TRACEPOINT || strcmp(pmu, "kprobe") == 0 || strcmp(pmu, "uprobe") == 0;
}

static enum source source_of(const struct event_encoding *encoding, const char *pmu)
{
	return encoding->type == PERF_TYPE_SOFTWARE || is_traced(encoding, pmu) ? SOURCE_OS : SOURCE_HW;
}

/* The kernel's own counting code is there to be read, and counts what its name says (kernel/events/core.c,
 * mm/memory.c): a 0 of it is one. But these it counts on some architectures only, or never. */
static bool counted_by_kernel(const struct event_encoding *encoding, const char *pmu)
{
	bool doubtful = encoding->type == PERF_TYPE_SOFTWARE &&
			(encoding->config == PERF_COUNT_SW_ALIGNMENT_FAULTS ||
			 encoding->config == PERF_COUNT_SW_EMULATION_FAULTS ||
			 encoding->config == PERF_COUNT_SW_DUMMY || encoding->config == PERF_COUNT_SW_BPF_OUTPUT);
	return source_of(encoding, pmu) == SOURCE_OS && !doubtful;
}

static void refuse(struct answer *answer, enum reading_state state, const char *why, const char *remedy)
{
	struct availability *out = &answer->availability;
	out->state = state;
	out->source = SOURCE_NONE;
	snprintf(out->why, sizeof out->why, "%.255s", why);
	snprintf(out->remedy, sizeof out->remedy, "%.255s", remedy);
}

static void explain_refusal(struct backend *backend, struct answer *answer, int os_errno)
{
	const struct variants *variants = &answer->variants;
	struct attempt attempt = {
		.action = COUNTER_OPEN,
		.event = answer->label,
		.how = answer->how,
		.levels = answer->levels,
		.type = answer->encoding.type,
		.task = variants->whole_cpus ? COUNTER_ANY_TASK : COUNTER_SELF,
		.cpu = variants->whole_cpus ? pmu_list_first(variants->items[0].cpus) : COUNTER_ANY_CPU,
		.counters = 1,
	};
	struct failure failure = failure_of(os_errno, &attempt, machine_state(backend));
	refuse(answer, failure_state(failure.code), failure.why, failure.step);
}

static void explain_silence(struct answer *answer, const struct trial *trial, const struct stimulus *stimulus)
{
	char why[256];
	if (trial->count)
		snprintf(why, sizeof why,
			 "it opens, but counted %" PRIu64 " for %s, which must give %" PRIu64 " or more",
			 trial->count, stimulus->what, trial->least);
	else
		snprintf(why, sizeof why,
			 "it opens, but counted nothing for %s, which must give %" PRIu64 " or more",
			 stimulus->what, trial->least);
	refuse(answer, READING_UNSUPPORTED, why, "");
	answer->availability.silent = trial->count == 0;
}

/* What the kernel's own code counts needs no proof but that it opens and runs. */
static bool run_any(uint64_t *least)
{
	stimulus_loop(STIMULUS_LOOPS);
	*least = 0;
	return true;
}
static const struct stimulus any_work = {"any work", run_any};

/* One encoding, on tare's own thread, or on a CPU where it counts no threads. */
static void try_encoding(struct backend *backend, const struct event *event, struct answer *answer)
{
	const struct event_encoding *encoding = &answer->encoding;
	struct variants *variants = &answer->variants;
	*variants = variants_of(encoding, core_kinds(backend), backend->machine.sysfs_root);
	answer->cpus_only = variants->whole_cpus;
	if (answer->levels != (LEVEL_USER | LEVEL_KERNEL) && ignores_levels(encoding)) {
		refuse(answer, READING_UNSUPPORTED, "the kernel's clock does not tell user time from kernel time",
		       "ask for it without a level, or for user-time or system-time");
		return;
	}
	if (answer->levels == LEVEL_USER && kernel_only(encoding)) {
		refuse(answer, READING_UNSUPPORTED, "it takes place in the kernel, never at user level",
		       "ask for it without ':u'");
		return;
	}
	struct error silent;
	if (is_traced(encoding, variants->pmu) && !tracing_answers(&silent)) {
		refuse(answer, READING_UNSUPPORTED, silent.text, "");
		return;
	}
	const struct stimulus *stimulus = stimulus_find(event, encoding, variants->pmu, answer->levels);
	if (!stimulus && !variants->whole_cpus && counted_by_kernel(encoding, variants->pmu))
		stimulus = &any_work;
	struct trial trial = trial_run(variants, answer->levels, stimulus);
	answer->open_levels = answer->levels;
	if (trial.outcome == TRIAL_REFUSED && trial.os_errno == EACCES && ignores_levels(encoding)) {
		/* what a user may not ask for is what the kernel gives in any case */
		answer->open_levels = LEVEL_USER;
		trial = trial_run(variants, answer->open_levels, stimulus);
	}
	/* rights are looked at before the event: the kernel's part is refused of events that are not there at all
	 */
	if (trial.outcome == TRIAL_REFUSED && trial.os_errno == EACCES && (answer->levels & LEVEL_KERNEL)) {
		struct trial at_user = trial_run(variants, LEVEL_USER, NULL);
		if (at_user.outcome == TRIAL_REFUSED &&
		    (at_user.os_errno == ENOENT || at_user.os_errno == EOPNOTSUPP))
			trial = at_user;
	}
	if (trial.outcome == TRIAL_UNMOVED && counted_by_kernel(encoding, variants->pmu))
		trial.outcome = TRIAL_WORKS;
	switch (trial.outcome) {
	case TRIAL_UNMOVED:
		refuse(answer, READING_UNPROVEN,
		       "not known to count: its counter runs, but stayed at 0 in all of tare's trials", "");
		answer->availability.source = source_of(encoding, variants->pmu);
		break;
	case TRIAL_WORKS:
		answer->availability = (struct availability){.state = READING_COUNTED,
							     .source = source_of(encoding, variants->pmu)};
		break;
	case TRIAL_REFUSED: explain_refusal(backend, answer, trial.os_errno); break;
	case TRIAL_NEVER_RAN:
		if (machine_state(backend)->watchdog)
			refuse(answer, READING_NEVER_RAN,
			       "it opens, but never gets a counter: the kernel's NMI watchdog "
			       "holds one",
			       "as root: sysctl kernel.nmi_watchdog=0");
		else
			refuse(answer, READING_NEVER_RAN, "it opens, but never gets a counter: all are taken",
			       "stop what else uses the counters");
		break;
	case TRIAL_SILENT: explain_silence(answer, &trial, stimulus); break;
	}
}

/* Of several encodings that do not work, which one's reason is the event's? The one that came farthest. */
static int closeness(enum reading_state state)
{
	switch (state) {
	case READING_COUNTED: return 5;
	case READING_UNPROVEN: return 4;
	case READING_DENIED: return 3;
	case READING_NEVER_RAN: return 2;
	case READING_FAILED: return 1;
	default: return 0;
	}
}

/* The kernel has no PMU that takes raw codes: whatever the code is, the answer is this one. */
static bool raw_codes_absent(struct backend *backend)
{
	const struct event_encoding any = {.type = PERF_TYPE_RAW, .scale = 1};
	const struct counter_request request = {.encoding = &any, .levels = LEVEL_USER, .leader = -1};
	if (!backend->raw_codes_tried) {
		int fd = counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
		backend->raw_codes_absent = fd < 0 && errno == ENOENT;
		backend->raw_codes_tried = true;
		if (fd >= 0)
			close(fd);
	}
	return backend->raw_codes_absent;
}

/* "amd:RETIRED_NEAR_RETURNS": libpfm4's names of what a core counts are in capitals, and become raw codes. */
static bool is_core_name(const char *encoding, const char *family)
{
	size_t length = strlen(family);
	return strncmp(encoding, family, length) == 0 && encoding[length] == ':' && encoding[length + 1] >= 'A' &&
	       encoding[length + 1] <= 'Z';
}

/*
 * As event_encode(). Where no PMU takes raw codes, names of libpfm4 are not looked up: to load it takes as much
 * CPU time as to count a short program, and the answer is the same.
 */
static bool encode(struct backend *backend, const struct event *event, size_t index, struct event_encoding *out,
		   struct error *err)
{
	const char *const *all = event->definition ? event->definition->encodings : NULL;
	for (size_t i = 0; all && all[i]; i++) {
		if (i != index || !is_core_name(all[i], backend->machine.family) || !raw_codes_absent(backend))
			continue;
		*out = (struct event_encoding){.type = PERF_TYPE_RAW, .scale = 1, .how = all[i]};
		return true;
	}
	return event_encode(event, &backend->machine, index, out, err);
}

/* What no counter here has, a reader looks for in a model next: why that has it not either. */
static void add_no_model(struct availability *out, const char *no_model)
{
	size_t length = strlen(out->why);
	if (no_model && out->state == READING_UNSUPPORTED && !out->silent)
		snprintf(out->why + length, sizeof out->why - length, ", and no model: %s", no_model);
}

static void try_all(struct backend *backend, const struct event *event, struct answer *answer)
{
	struct answer best = *answer;
	bool tried = false;
	char remedy[128] = "";
	const char *no_model = event->definition ? event->definition->no_model : NULL;
	if (event->machine)
		snprintf(remedy, sizeof remedy, "count it with --on model:%.60s", event->machine);
	refuse(&best, READING_UNSUPPORTED,
	       no_model         ? "this machine's counters do not have it"
	       : event->machine ? "it is an event of a modelled machine, not of this machine's counters"
				: "it has no encoding for the kernel's interface",
	       no_model ? "" : remedy);
	for (size_t i = 0;; i++) {
		struct error reason = {0};
		struct answer now = *answer;
		if (!encode(backend, event, i, &now.encoding, &reason)) {
			if (reason.code == ERROR_UNSUPPORTED && event->definition) {
				if (!tried && i == 0)
					refuse(&best, READING_UNSUPPORTED, reason.text, reason.hint);
				continue;
			}
			/* a native name has one encoding: what is wrong with it is all there is to say. A row of
			 * the table has come to its end */
			if (!event->definition && !tried)
				refuse(&best, READING_UNSUPPORTED, reason.text, reason.hint);
			break;
		}
		snprintf(now.how, sizeof now.how, "%s", now.encoding.how ? now.encoding.how : "");
		try_encoding(backend, event, &now);
		if (!tried || closeness(now.availability.state) > closeness(best.availability.state))
			best = now;
		tried = true;
		if (now.availability.state == READING_COUNTED)
			break;
	}
	*answer = best;
	add_no_model(&answer->availability, no_model);
	answer->encoding.how = answer->how;
}

const struct answer *answer_find(struct backend *backend, const struct event *event)
{
	for (size_t i = 0; i < backend->answers.count; i++) {
		struct answer *known = backend->answers.items[i];
		if (known->levels == event->levels && strcmp(known->text, event->text) == 0)
			return known;
	}
	struct answer *answer = calloc(1, sizeof *answer);
	if (!answer)
		return NULL;
	answer->levels = event->levels;
	answer->text = strdup(event->text);
	answer->label = strdup(event->label);
	if (!answer->text || !answer->label || !vec_push(&backend->answers, answer)) {
		free(answer->text);
		free(answer->label);
		free(answer);
		return NULL;
	}
	try_all(backend, event, answer);
	return answer;
}

void answers_free(struct backend *backend)
{
	for (size_t i = 0; i < backend->answers.count; i++) {
		free(backend->answers.items[i]->text);
		free(backend->answers.items[i]->label);
		free(backend->answers.items[i]);
	}
	vec_free(&backend->answers);
}

void perf_available(struct backend *backend, const struct event *event, struct availability *out)
{
	const struct answer *answer = answer_find(backend, event);
	if (answer)
		*out = answer->availability;
	else
		*out = (struct availability){.state = READING_FAILED, .why = "out of memory"};
}

#include "backend/perf/trial/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "backend/perf/counter/pmu.h"

static int open_one(const struct counter_request *request, int cpu)
{
	return counter_open(request, cpu < 0 ? COUNTER_SELF : COUNTER_ANY_TASK, cpu);
}

/* Counters of a CPU or package need not see what tare does, but time passes for all. */
static void let_time_pass(void)
{
	struct timespec ms = {.tv_nsec = 1000000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
}

/* Opens, and adds up, n counters. */
static struct trial run(const struct counter_request *requests, size_t n, int cpu, const struct stimulus *stimulus)
{
	struct trial trial = {.outcome = TRIAL_REFUSED};
	uint64_t running_ns = 0;
	bool known = false;
	int fds[CORE_KINDS_MOST];
	size_t open = 0;
	for (; open < n; open++) {
		fds[open] = open_one(&requests[open], cpu);
		if (fds[open] < 0) {
			trial.os_errno = errno;
			goto out;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (!counter_enable(fds[i])) {
			trial.os_errno = errno;
			goto out;
		}
	}
	if (stimulus)
		known = stimulus->run(&trial.least);
	if (!known) {
		stimulus_all();
		if (cpu >= 0)
			let_time_pass();
	}
	for (size_t i = 0; i < n; i++)
		counter_disable(fds[i]);
	for (size_t i = 0; i < n; i++) {
		struct counter_values values;
		if (!counter_read(fds[i], &values)) {
			trial.os_errno = errno;
			goto out;
		}
		trial.count += values.count;
		running_ns += values.running_ns;
	}
	if (!known)
		trial.least = 0;
	trial.outcome = running_ns == 0             ? TRIAL_NEVER_RAN
			: trial.count < trial.least ? TRIAL_SILENT
			: trial.count == 0          ? TRIAL_UNMOVED
						    : TRIAL_WORKS;
out:
	while (open--)
		close(fds[open]);
	return trial;
}

struct trial trial_run(const struct variants *variants, unsigned levels, const struct stimulus *stimulus)
{
	struct counter_request requests[CORE_KINDS_MOST];
	for (size_t i = 0; i < variants->n; i++)
		requests[i] = (struct counter_request){.encoding = &variants->items[i].encoding, .levels = levels};
	int cpu = variants->whole_cpus ? pmu_list_first(variants->items[0].cpus) : COUNTER_ANY_CPU;
	return run(requests, variants->n, cpu, stimulus);
}

struct trial trial_run_one(const struct event_encoding *encoding, unsigned levels, int cpu,
			   const struct stimulus *stimulus)
{
	struct counter_request request = {.encoding = encoding, .levels = levels};
	return run(&request, 1, cpu, stimulus);
}

bool trial_fits(const struct counter_request *requests, const int *cpus, size_t n)
{
	int *fds = malloc((n + 1) * sizeof *fds);
	struct descriptor_limit limit;
	size_t open = 0;
	bool fits = fds != NULL;
	if (!fds)
		return false;
	limit_raise(&limit, n);
	for (; fits && open < n; open += fits)
		fits = (fds[open] = open_one(&requests[open], cpus[open])) >= 0;
	for (size_t i = 0; fits && i < n; i++)
		fits = counter_enable(fds[i]);
	if (fits)
		stimulus_loop(STIMULUS_LOOPS);
	for (size_t i = 0; fits && i < n; i++) {
		struct counter_values values;
		fits = counter_read(fds[i], &values) && values.running_ns > 0 &&
		       values.running_ns == values.enabled_ns;
	}
	for (size_t i = 0; i < open; i++)
		close(fds[i]);
	limit_restore(&limit);
	free(fds);
	return fits;
}

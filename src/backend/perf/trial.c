#include "backend/perf/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int open_one(const struct counter_request *request, int cpu)
{
	return counter_open(request, cpu < 0 ? COUNTER_SELF : COUNTER_ANY_TASK, cpu);
}

/* Counters of a CPU or package need not see what tare does, but time passes for all. */
static void let_time_pass(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
}

struct trial trial_run(const struct event_encoding *encoding, unsigned levels, int cpu,
		       const struct stimulus *stimulus)
{
	struct counter_request request = { .encoding = encoding, .levels = levels };
	struct counter_values values = { 0 };
	struct trial trial = { .outcome = TRIAL_REFUSED };
	bool known = false;
	int fd = open_one(&request, cpu);
	if (fd < 0) {
		trial.os_errno = errno;
		return trial;
	}
	if (!counter_enable(fd)) {
		trial.os_errno = errno;
		goto out;
	}
	if (stimulus)
		known = stimulus->run(&trial.least);
	if (!known && cpu >= 0)
		let_time_pass();
	else if (!known)
		stimulus_loop(STIMULUS_LOOPS);
	counter_disable(fd);
	if (!counter_read(fd, &values)) {
		trial.os_errno = errno;
		goto out;
	}
	trial.count = values.count;
	if (!known)
		trial.least = 0;
	trial.outcome = values.running_ns == 0	    ? TRIAL_NEVER_RAN
			: values.count < trial.least ? TRIAL_SILENT
						     : TRIAL_WORKS;
out:
	close(fd);
	return trial;
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
		fits = counter_read(fds[i], &values) && values.running_ns > 0 && values.running_ns == values.enabled_ns;
	}
	for (size_t i = 0; i < open; i++)
		close(fds[i]);
	limit_restore(&limit);
	free(fds);
	return fits;
}

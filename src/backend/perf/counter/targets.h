/* Where the counters of a target go: the tasks or CPUs that perf_event_open(2) is called for. */
#ifndef TARE_BACKEND_PERF_COUNTER_TARGETS_H
#define TARE_BACKEND_PERF_COUNTER_TARGETS_H

#include "backend/backend.h"
#include "backend/perf/counter/counter.h"
#include "base/vec.h"

/* One of task and cpu is chosen; the other is -1. */
struct counter_target {
	pid_t task;
	int cpu;
};

struct counter_targets {
	VEC(struct counter_target) list;
};

/* The threads (PROCESSES: all of each, THREADS: as given) or CPUs of a target, each once, in ascending order for
 * CPUs. A process or CPU that is not there is an error. */
bool counter_targets_find(struct counter_targets *targets, const struct target *target, struct error *err);
void counter_targets_free(struct counter_targets *targets);
/* The same ones, in any order. */
bool counter_targets_same(const struct counter_targets *a, const struct counter_targets *b);

/* What of the tasks that a target starts is counted with it. */
enum counter_heirs heirs_of(const struct target *target);

/* "0-3,8" as sysfs writes it; -1 when the text has another form. Calls each(context, cpu) until it is false. */
bool cpu_list_each(const char *text, bool (*each)(void *context, int cpu), void *context);

#endif

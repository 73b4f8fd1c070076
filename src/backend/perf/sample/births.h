/* Is a task in the middle of starting another one?
 *
 * The kernel gives a new task its parent's events early (linux/kernel/fork.c, perf_event_init_task() in
 * copy_process()), and tells of it late (perf_event_fork(), before the task runs). Between these the parent may be
 * stopped for as long as other tasks have the CPU, and nothing shows that a task is being born. But a task that
 * sleeps, or has since had more CPU time than a clone(2) takes, has left the call. */
#ifndef TARE_BACKEND_PERF_SAMPLE_BIRTHS_H
#define TARE_BACKEND_PERF_SAMPLE_BIRTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct parent {
	pid_t tid;
	uint64_t ticks; /* of CPU time, when it was noted */
};

struct births {
	VEC(struct parent) parents; /* that may be in the middle of a birth */
};

/* Notes these tasks as they are now. False: no memory. Ended with births_free(). */
bool births_note(struct births *b, const pid_t *tasks, size_t n);

/* Every birth that was under way when the tasks were noted is over, and told of. */
bool births_over(struct births *b);

void births_free(struct births *b);

#endif

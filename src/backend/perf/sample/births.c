#include "backend/perf/sample/births.h"

#include "base/process_stat.h"

/* Of CPU time, in ticks (10 ms): of two, one at least is whole. clone(2) of a thread takes 0.1 ms at most, fork(2)
 * of a process with 4 GB in its memory 10. */
#define TICKS_OF_A_BIRTH 3u

bool births_note(struct births *b, const pid_t *tasks, size_t n)
{
	*b = (struct births){0};
	for (size_t i = 0; i < n; i++) {
		struct parent parent = {.tid = tasks[i]};
		char state;
		if (process_stat(tasks[i], &state, &parent.ticks) && !vec_push(&b->parents, parent))
			return false;
	}
	return true;
}

bool births_over(struct births *b)
{
	for (size_t i = 0; i < b->parents.count;) {
		const struct parent *parent = &b->parents.items[i];
		char state;
		uint64_t ticks;
		if (process_stat(parent->tid, &state, &ticks) && (state == 'R' || state == 'D') &&
		    ticks - parent->ticks < TICKS_OF_A_BIRTH)
			i++;
		else
			b->parents.items[i] = b->parents.items[--b->parents.count];
	}
	return b->parents.count == 0;
}

void births_free(struct births *b) { vec_free(&b->parents); }

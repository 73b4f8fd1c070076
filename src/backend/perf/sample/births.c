#include "backend/perf/sample/births.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of CPU time, in ticks (10 ms): of two, one at least is whole. clone(2) of a thread takes 0.1 ms at most, fork(2)
 * of a process with 4 GB in its memory 10. */
#define TICKS_OF_A_BIRTH 3u

/* Its state and its CPU time: proc(5), /proc/PID/stat, fields 3, 14 and 15. False: it is gone. */
static bool look_at(pid_t tid, char *state, uint64_t *ticks)
{
	char path[64], text[512];
	uint64_t user, system;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	/* the name in parentheses may hold anything; the state follows the last one */
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, state, &user,
			   &system) != 3)
		return false;
	*ticks = user + system;
	return true;
}

bool births_note(struct births *b, const pid_t *tasks, size_t n)
{
	*b = (struct births){0};
	for (size_t i = 0; i < n; i++) {
		struct parent parent = {.tid = tasks[i]};
		char state;
		if (look_at(tasks[i], &state, &parent.ticks) && !vec_push(&b->parents, parent))
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
		if (look_at(parent->tid, &state, &ticks) && (state == 'R' || state == 'D') &&
		    ticks - parent->ticks < TICKS_OF_A_BIRTH)
			i++;
		else
			b->parents.items[i] = b->parents.items[--b->parents.count];
	}
	return b->parents.count == 0;
}

void births_free(struct births *b) { vec_free(&b->parents); }

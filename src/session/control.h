/* Orders to a profile that runs, by a FIFO or a descriptor, in perf record's words (--control). */
#ifndef TARE_SESSION_CONTROL_H
#define TARE_SESSION_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct profile_control {
	int orders, answers; /* descriptors; answers -1: none are wanted */
	bool owns;           /* they are closed by profile_control_close() */
	char line[256];
	size_t used;
	bool overlong; /* what has come of this line is longer than any order */
};

enum control_order {
	CONTROL_NONE, /* nothing more has come */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT, /* "snapshot", "dump" */
	CONTROL_PING,
	CONTROL_UNKNOWN, /* control->line is what came */
};

/* "[fifo:]ORDERS[,ANSWERS]", "fd:N[,M]". ERROR_USAGE: it is neither; ERROR_NOT_FOUND, ERROR_SYSTEM: a FIFO cannot
 * be opened. */
bool profile_control_open(const char *text, struct profile_control *out, struct error *err);
/* The next whole line, without waiting. */
enum control_order profile_control_next(struct profile_control *control);
/* "ack", where answers are wanted; one that nobody reads is left out. */
void profile_control_answer(const struct profile_control *control);
void profile_control_close(struct profile_control *control);

#endif

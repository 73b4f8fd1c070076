/*
 * Does this kernel's tracing answer? After a fault of the kernel in which the lock of all tracing was held, each
 * use of a tracepoint or a probe waits for ever, where no signal ends it, until the machine is restarted (Linux
 * 6.18: probe/trace.h). So a process of its own asks first, and is waited for only so long.
 *
 * What always holds:
 *  1. The process that asks has nothing open of tare's, so that nobody waits for the end of what it might have
 *     written. It is never killed: when it is answered after all, it ends.
 *  2. As long as it waits, a note names it: `PID START` in a file of this boot's in $XDG_RUNTIME_DIR, or of root's
 *     in /run. A later process that finds it still waiting asks no more. Where it has ended the note is void.
 */
#ifndef TARE_BACKEND_PERF_TRIAL_ANSWERS_H
#define TARE_BACKEND_PERF_TRIAL_ANSWERS_H

#include <stdbool.h>

#include "base/error.h"

struct timed_question {
	void (*ask)(void); /* returns when there is an answer, whatever it is; in a process of its own */
	int wait_ms;
	const char *folder; /* of the note; NULL: there is none */
};

/* False: ERROR_UNSUPPORTED, with what to do. True where nobody could be made to ask. */
bool question_answered(const struct timed_question *question, struct error *err);

/* The same, of this kernel's tracing. */
bool tracing_answers(struct error *err);

#endif

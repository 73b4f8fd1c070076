/* What each execution of the program gets as standard input and output.
 *
 * 1. A single execution keeps tare's own streams, untouched, unless its output is not wanted.
 * 2. Of several executions each reads the same input: a regular file from where it stood at the start, a pipe
 *    from a copy in memory. A terminal cannot be given twice: it is shared as it is, and `note` says so.
 * 3. Output that is not shown goes to a file in memory that is emptied as it grows, not to /dev/null, whose
 *    users behave differently there: grep stops at its first match, tar does not read its files. */
#ifndef TARE_MEASURE_STREAMS_H
#define TARE_MEASURE_STREAMS_H

#include <signal.h>

#include "backend/backend.h"
#include "base/error.h"
#include "measure/measure.h"

struct streams {
	enum program_output output;
	int input_fd;     /* the program's input as tare was given it; -1: not ours to touch */
	int copy_fd;      /* the pipe's copy in memory; -1 */
	int sink_fd;      /* where silent output goes; -1 until needed */
	long long offset; /* where a regular file stood; -1: not one */
	const char *note; /* a static text; NULL */
};

enum { STREAMS_INPUT_MOST_MIB = 1024 }; /* the most that is copied from a pipe */

/* Looks at (and, from a pipe, reads) the input when there is more than one execution. interrupt ends the reading
 * of a pipe that does not end; may be NULL. */
bool streams_open(struct streams *s, const struct command *command, enum program_output output, size_t executions,
		  const volatile sig_atomic_t *interrupt, struct error *err);

/* Fills the descriptors of *command for one execution; index counts all executions from 0, warm-ups included.
 * *silent tells whether the output is hidden. Descriptors stay the streams' own, until the next call. */
bool streams_next(struct streams *s, size_t index, struct command *command, bool *silent, struct error *err);

/* Frees what the running program wrote to the hidden output so far. */
void streams_trim(struct streams *s);

void streams_close(struct streams *s);

#endif

/* The one line on a terminal that says what a long command is at, and how long it takes yet.
 *
 * 1. Standard error alone, a terminal alone; the caller does not ask with -q, or while a program writes there.
 * 2. The line is never wider than the terminal: one that wraps could not be erased. What does not fit is cut,
 *    from the name of what is measured first.
 * 3. It is gone before anything else is written: progress_line_end(). */
#ifndef TARE_CLI_PROGRESS_LINE_H
#define TARE_CLI_PROGRESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct progress_line {
	bool shown;
};

/* "tare: execution 3 of 10, about 4 s left: NAME". left_seconds: negative when not known.
 * name: any bytes, escaped here; NULL: none. */
void progress_line_show(struct progress_line *line, const char *what, size_t number, size_t of,
			double left_seconds, const char *name);
/* Erases it. */
void progress_line_end(struct progress_line *line);

/* Steps of about the same length: the time left is reckoned from those that are done. */
struct progress_steps {
	struct progress_line line;
	bool terminal; /* standard error is one */
	struct clock clock;
	uint64_t began_ns;
};
struct progress_steps progress_steps_begin(void);
/* `done` of `of` steps are done; the next one begins. */
void progress_steps_show(struct progress_steps *steps, const char *what, size_t done, size_t of, const char *name);
void progress_steps_end(struct progress_steps *steps);

/* The line's text in at most columns - 1 bytes; bytes >= 1 is text's size. */
void progress_line_text(char *text, size_t bytes, size_t columns, const char *what, size_t number, size_t of,
			double left_seconds, const char *name);

#endif

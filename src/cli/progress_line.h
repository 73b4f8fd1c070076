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

struct progress_line {
	bool shown;
};

/* "tare: execution 3 of 10, about 4 s left: NAME". left_seconds: negative when not known.
 * name: any bytes, escaped here; NULL: none. */
void progress_line_show(struct progress_line *line, const char *what, size_t number, size_t of,
			double left_seconds, const char *name);
/* Erases it. */
void progress_line_end(struct progress_line *line);

/* The line's text in at most columns - 1 bytes; bytes >= 1 is text's size. */
void progress_line_text(char *text, size_t bytes, size_t columns, const char *what, size_t number, size_t of,
			double left_seconds, const char *name);

#endif

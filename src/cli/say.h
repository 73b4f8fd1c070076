/* What the command says of itself: messages on standard error, and exit codes. */
#ifndef TARE_CLI_SAY_H
#define TARE_CLI_SAY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* tare's own exit codes; a program that it runs passes its status through instead. */
enum {
	TARE_DONE = 0,
	TARE_FOUND_WRONG = 1,    /* a verification found something wrong */
	TARE_USAGE = 2,          /* the command line, a parameter file, a name */
	TARE_CANNOT_MEASURE = 3, /* no program, no permission, no way to write the report, … */
	TARE_TIMED_OUT = 124,    /* --timeout ended the program: timeout(1)'s number */
};

/* "tare: text", and the hint on a line of its own. */
void say_error(const struct error *err);
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says the error; returns `code`. */
int say_failed(const struct error *err, int code);
/* The same, with the code that follows from the kind of error. */
int say_failure(const struct error *err);

/* For commands that report on standard output, before they write: a pipe that its reader closes does not end tare
 * before it has released what it holds. */
void say_begin_output(void);
/* Flushes it; TARE_DONE, or TARE_CANNOT_MEASURE with a message when something of it was lost. When the reader of a
 * pipe has gone ("tare list | head"), SIGPIPE ends the process here, without a message. */
int say_end_output(void);

/* Is it a terminal that shows colours, for a user that wants them (NO_COLOR unset or empty, TERM not dumb)? */
bool say_in_colour(FILE *stream);
/* Columns of the terminal; 0 when it is none. */
int say_width(FILE *stream);

#endif

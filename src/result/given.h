/* What --reproducible could not make the same for a program, and what would: of several executions side by side.
 *
 * An execution's text has a line for each thing that the program was given and that may differ from run to run or
 * from machine to machine: "what TAB times TAB sum"; equal sums are equal values. Two further lines tell what it
 * executed: "code TAB sum", of the contents of the files that code ran from; "tasks TAB one", or "several":
 * whether more than one thread or process was there. */
#ifndef TARE_RESULT_GIVEN_H
#define TARE_RESULT_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A line's parts, in the text and not ended by 0. */
struct given_thing {
	const char *what, *sum;
	size_t what_length, sum_length;
	uint64_t times;
};

/* The text's next thing; *text is then behind it. False: there is none. A line that is none is passed over. */
bool given_next(const char **text, struct given_thing *thing);

/* Appends what is not the same in all n texts, ", " between; returns how many things that are. *fix: what makes
 * the first of them the same; NULL: none is known. */
size_t given_differing(const char *const *given, size_t n, struct str *names, const char **fix);

enum given_fact { GIVEN_UNKNOWN, GIVEN_NO, GIVEN_YES };

/* Were there several threads or processes in one of the n executions? */
enum given_fact given_several_tasks(const char *const *given, size_t n);
/* Did both execute code of the same files' contents? */
enum given_fact given_same_code(const char *a, const char *b);

#endif

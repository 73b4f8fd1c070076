/* Command lines: a table of options in, calls and help text out.
 *
 * 1. Options end at the first word that is not one, or after "--"; so a program's options stay its own.
 * 2. "-r5", "-r 5", "-vv", "--name value" and "--name=value" are understood; names are not abbreviated.
 * 3. What --help prints comes from the same rows as what is parsed. */
#ifndef TARE_CLI_OPTIONS_H
#define TARE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

struct option_row {
	char letter;      /* 'r', or 0 */
	const char *name; /* "repetitions"; NULL in a row that is a heading or ends the table */
	/* NULL: takes none; "N" in help; "[=N]": may be left out, value is NULL then. Completion understands
	 * "a|b", FILE, and completion.c's kinds */
	const char *argument;
	/* may be longer than a line; of a heading: its text; "": another tool's spelling, which works and is not
	 * shown; NULL ends the table */
	const char *help;
	int id; /* for apply() */
};

/* Behind "[=" stands what may be left out. ("[NAME=]PLACE" is an argument like any other.) */
static inline bool option_needs_argument(const struct option_row *row)
{
	return row->argument && strncmp(row->argument, "[=", 2) != 0;
}

/* Called for each option in order; value is NULL for options without an argument and borrowed otherwise (it lives
 * as long as argv). The error's text need not name the option: it is put in front. */
typedef bool options_apply(void *context, int id, const char *value, struct error *err);

/* Parses argv[1 …]. *rest becomes the index of the first word that is not an option (argc when none is left). An
 * unknown option is an error with the nearest names. */
bool options_parse(const struct option_row *rows, int argc, char **argv, options_apply *apply, void *context,
		   int *rest, struct error *err);

/* On standard output: the head, the table as help text, the tail. Head and tail are texts of at most 80 columns.
 * On a narrower terminal all is broken at its width. */
void options_help(const char *head, const struct option_row *rows, const char *tail);

struct number_list {
	VEC(int) numbers;
};

/* "3", "0,2-3" with ranges: numbers from least, each once in the order given, appended to *list. what: "a process
 * id", for messages. */
bool options_number_list(const char *text, const char *what, bool ranges, unsigned long long least,
			 struct number_list *list, struct error *err);

/* A time above 0. */
bool options_seconds(const char *value, uint64_t *ns, struct error *err);

/* Checked values. `most` is inclusive. */
bool options_number(const char *value, unsigned long long least, unsigned long long most, unsigned long long *out,
		    struct error *err);

#endif

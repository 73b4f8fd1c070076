/* One `tare compare` at work, for compare.c and compare_commands.c. */
#ifndef TARE_CLI_COMPARE_H
#define TARE_CLI_COMPARE_H

#include <signal.h>

#include "cli/compare_options.h"
#include "cli/count_output.h"
#include "cli/progress_line.h"
#include "session/compare.h"
#include "session/keep.h"
#include "session/link_order.h"

enum { COMMANDS_MOST = 200 };

/* What is compared, in the order of the report: a command that runs, or a run that was kept. */
struct compare_side {
	const char *name;
	bool is_kept;
	size_t at; /* in commands or in kept */
};

/* One way to build what is compared: a revision, or a compiler with its flags. Texts are the arena's. */
struct compare_build {
	const char *name;
	const char *folder;           /* of its own, in the temporary one; its name is as long as the others' */
	const char *directory;        /* where the build and the program run: in the revision's tree; NULL: here */
	const char *out;              /* {out}: the program that is built */
	const char *flags, *compiler; /* NULL: none */
	VEC(const char *) orders;     /* the same program linked in other orders; empty: in one */
};

struct compare_command_line {
	struct compare_request request;
	char *folder; /* temporary, of the builds; NULL: none */
	VEC(struct compare_build) builds;
	struct link_orders link_orders;
	bool program_is_one; /* the words behind -- are one program */
	bool one_command;    /* so that builds alone name the sides */
	VEC(struct compare_side) sides;
	VEC(struct compare_command) commands;
	VEC(struct kept_run *) kept; /* the arena's; their contents are to be freed */
	struct session *sessions;    /* commands.count; the first one open when n_open is 1 or more */
	size_t n_open;
	struct comparison *comparison;
	struct output output, json_file, csv_file, markdown_file, junit_file, html_file;
	int input_fd;
	struct progress_line line;
	struct runs *runs; /* the store, when it was opened for what is verified */
	struct arena arena;
};

/* Makes the builds that were asked for, in temporary folders: revisions checked out, compilers run. */
bool compare_make_builds(struct compare_command_line *x, const volatile sig_atomic_t *interrupt,
			 struct error *err);
/* {dir}, {out}, {flags} and {cc} of a text; NULL when memory ran out. */
char *compare_put_in_build(struct compare_command_line *x, const char *text, const struct compare_build *build);
/* Removes the folders. */
void compare_remove_builds(struct compare_command_line *x);

/* Fills sides, commands and kept from the request. ERROR_USAGE: what was asked for is wrong. */
bool compare_find_sides(struct compare_command_line *x, struct error *err);

#endif

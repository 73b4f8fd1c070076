/* A command given as one argument ('gzip -9 file'): into words where it is only words, else for a shell.
 *
 * Words are separated by blanks; '…' and "…" quote, \ takes the next character as it is. What only a shell
 * knows (pipes, redirections, $VARIABLES, patterns, NAME=value, comments, reserved words and commands that are
 * not programs) makes it a command for the shell: tare guesses nothing. */
#ifndef TARE_CLI_COMMAND_LINE_H
#define TARE_CLI_COMMAND_LINE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

enum shell_use { SHELL_AS_NEEDED, SHELL_ALWAYS, SHELL_NEVER };

struct command_line {
	char **argv; /* NULL-terminated; in the arena */
	bool by_shell;
};

/* shell: what `shell -c LINE` runs ("/bin/sh"). ERROR_USAGE: the line is empty, a quote is not closed, or it needs
 * the shell that it may not have. */
bool command_line_parse(const char *line, enum shell_use use, const char *shell, struct arena *arena,
			struct command_line *out, struct error *err);

/* Puts value in the place of each {name}; in the arena. NULL when memory ran out. */
char *command_line_substitute(const char *line, const char *name, const char *value, struct arena *arena);

#endif

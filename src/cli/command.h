/* The subcommands: each in a file of its own, each with one option table. */
#ifndef TARE_CLI_COMMAND_H
#define TARE_CLI_COMMAND_H

#include <stdbool.h>

struct command_row {
	const char *name;
	const char *summary; /* one line */
	/* argv[0] is the subcommand's name; returns tare's exit code. */
	int (*run)(int argc, char **argv);
};

/* Ends with a NULL name. */
extern const struct command_row command_rows[];
const struct command_row *command_find(const char *name);

int command_count(int argc, char **argv);
int command_list(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_help(int argc, char **argv);
int command_version(int argc, char **argv);

#endif

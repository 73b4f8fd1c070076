/* The list of subcommands. */
#include <string.h>

#include "cli/command.h"

const struct command_row command_rows[] = {
	{ "count", "count events of a program, processes, threads or CPUs", command_count },
	{ "list", "list events, metrics, backends and machines: what works here", command_list },
	{ "doctor", "say what can be measured here, and what would allow more", command_doctor },
	{ "help", "show help, also of one command: tare help count", command_help },
	{ "version", "show the version", command_version },
	{ 0 },
};

const struct command_row *command_find(const char *name)
{
	for (const struct command_row *row = command_rows; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

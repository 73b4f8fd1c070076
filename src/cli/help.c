/* tare help, tare version. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/say.h"

static void overview(void)
{
	fputs("tare counts events of programs with the machine's performance counters, and says\n"
	      "of every number where it came from and how far it can be off.\n"
	      "\n"
	      "usage: tare COMMAND [OPTIONS] ...\n"
	      "\n",
	      stdout);
	for (const struct command_row *row = command_rows; row->name; row++)
		printf("  %-12s %s\n", row->name, row->summary);
	fputs("\n"
	      "examples:\n"
	      "  tare count gzip -k FILE              what this machine can count of one run\n"
	      "  tare count -r 5 -e instructions,page-faults -- make -j2\n"
	      "  tare count -a --for 10               all CPUs, 10 seconds\n"
	      "  tare list events cache               events with 'cache' in name or definition\n"
	      "\n"
	      "exit status: 0 done; 1 a verification found something wrong; 2 wrong usage;\n"
	      "3 cannot measure. A program that tare runs passes its own status through (128+N\n"
	      "when signal N ended it).\n",
	      stdout);
}

int command_help(int argc, char **argv)
{
	static char help[] = "--help";
	struct error err = { 0 };
	if (argc > 2) {
		error_set(&err, ERROR_USAGE, "'help' takes one command, not %d", argc - 1);
		return say_failure(&err);
	}
	if (argc == 2 && argv[1][0] != '-') {
		const struct command_row *row = command_find(argv[1]);
		if (!row) {
			error_set(&err, ERROR_USAGE, "unknown command '%s'", argv[1]);
			error_hint(&err, "'tare help' lists the commands");
			return say_failure(&err);
		}
		if (row->run != command_help && row->run != command_version)
			return row->run(2, (char *[]){ argv[1], help, NULL });
	}
	say_begin_output();
	overview();
	return say_end_output();
}

int command_version(int argc, char **argv)
{
	(void)argv;
	struct error err = { 0 };
	if (argc > 1) {
		error_set(&err, ERROR_USAGE, "'version' takes no arguments");
		return say_failure(&err);
	}
	say_begin_output();
	puts("tare " TARE_VERSION);
	return say_end_output();
}

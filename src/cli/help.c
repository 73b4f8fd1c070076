/* tare help, with its topics; tare version. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/say.h"
#include "cli/topic.h"

enum { TOPIC_WIDEST = 100 }; /* wider lines are hard to read */

static void overview(void)
{
	fputs("tare counts events of programs: with the performance counters of the machine,\n"
	      "with its own engine, with models of machines. For every number it states the\n"
	      "source and the error.\n"
	      "\n"
	      "usage: tare COMMAND [OPTIONS] ...\n"
	      "\n",
	      stdout);
	for (const struct command_row *row = command_rows; row->name; row++)
		printf("  %-12s %s\n", row->name, row->summary);
	fputs("\ntopics of 'tare help':\n", stdout);
	for (const struct embedded_file *topic = topic_files; topic->name; topic++)
		topic_print_name(stdout, topic);
	fputs("\n"
	      "examples:\n"
	      "  tare count gzip -k FILE              what this machine can count of one run\n"
	      "  tare count -r 5 -e instructions,page-faults -- make -j2\n"
	      "  tare count -a --for 10               all CPUs, 10 seconds\n"
	      "  tare list events cache               events with 'cache' in name or definition\n"
	      "\n"
	      "exit status: 0 done; 1 a counter is wrong, a gate failed or --fail-if holds;\n"
	      "2 wrong usage; 3 cannot measure; 124 --timeout ended the program. A program that\n"
	      "tare runs passes its own status through (128+N when signal N ended it).\n",
	      stdout);
}

static int show_topic(const struct embedded_file *topic)
{
	int width = say_width(stdout);
	say_begin_output();
	topic_print(stdout, topic, width ? (size_t)(width < TOPIC_WIDEST ? width : TOPIC_WIDEST) : 80,
		    say_in_colour(stdout));
	return say_end_output();
}

int command_help(int argc, char **argv)
{
	static char help[] = "--help";
	struct error err = {0};
	if (argc > 2) {
		error_set(&err, ERROR_USAGE, "'help' takes one command or topic, not %d", argc - 1);
		return say_failure(&err);
	}
	if (argc == 2 && strcmp(argv[1], "-h") != 0 && strcmp(argv[1], help) != 0) {
		const struct command_row *row = command_find(argv[1]);
		const struct embedded_file *topic = topic_find(argv[1]);
		if (topic)
			return show_topic(topic);
		if (!row) {
			error_set(&err, ERROR_USAGE, "unknown command or topic '%s'", argv[1]);
			error_hint(&err, "'tare help' lists them");
			return say_failure(&err);
		}
		if (row->run != command_help)
			return row->run(2, (char *[]){argv[1], help, NULL});
	}
	say_begin_output();
	overview();
	return say_end_output();
}

int command_version(int argc, char **argv)
{
	struct error err = {0};
	bool help = argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));
	if (argc > 1 && !help) {
		error_set(&err, ERROR_USAGE, "'version' takes no arguments: '%s'", argv[1]);
		return say_failure(&err);
	}
	say_begin_output();
	if (help) {
		fputs("usage: tare version\n\nShows the version, in one line.\n", stdout);
		return say_end_output();
	}
	puts("tare " TARE_VERSION);
	return say_end_output();
}

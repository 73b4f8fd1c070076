/* tare: finds the subcommand. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/paper_tools.h"
#include "cli/say.h"

static int unknown(const char *word)
{
	struct error err = {0};
	struct nearest near = {0};
	if (word[0] == '-') {
		error_set(&err, ERROR_USAGE, "unknown option '%s'", word);
		error_hint(&err, "'tare --help' lists the commands");
		return say_failure(&err);
	}
	error_set(&err, ERROR_USAGE, "unknown command '%s'", word);
	for (const struct command_row *row = command_rows; row->name; row++)
		nearest_consider(&near, word, row->name);
	if (near.names[0] && near.distances[0] <= 2)
		error_hint(&err, "did you mean 'tare %s'?", near.names[0]);
	else
		error_hint(&err, "to count a program's events: 'tare count %.100s ...'; else 'tare --help'", word);
	return say_failure(&err);
}

/* A standard stream that tare was started without must not become the first file that tare opens: the program
 * would write into it. It is opened the wrong way round, so that using it stays an error. Programs that tare
 * starts find it closed, as it was. */
static void keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		/* open() takes the lowest number that is free */
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
}

int main(int argc, char **argv)
{
	static char help[] = "help", version[] = "version";
	int code;
	keep_standard_descriptors();
	if (paper_tool(argc, argv, &code))
		return code;
	if (argc < 2) {
		fputs("usage: tare COMMAND [OPTIONS] ...\n\n", stderr);
		for (const struct command_row *row = command_rows; row->name; row++)
			fprintf(stderr, "  %-11s %s\n", row->name, row->summary);
		fputs("\n'tare help' shows more.\n", stderr);
		return TARE_USAGE;
	}
	const char *word = argv[1];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		argv[1] = help;
	else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		argv[1] = version;
	const struct command_row *row = command_find(argv[1]);
	return row ? row->run(argc - 1, argv + 1) : unknown(word);
}

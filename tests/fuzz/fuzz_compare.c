/* Gates and command lines of any text: no crash; an error has a text; a gate that parses has an event and a finite bound; words that
 * need no shell parse again, quoted, as the same words; what needs one is handed to it as it is. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/command_line.h"
#include "session/gate.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void try_gate(const char *text)
{
	struct error err = {0};
	struct gate gate;
	if (gate_parse(text, &gate, &err))
		check(gate.event[0] && isfinite(gate.limit) && strlen(gate.event) < strlen(text),
		      "a gate without an event or a bound");
	else
		check(err.code == ERROR_USAGE && err.text[0] && err.hint[0], "an error without its text or hint");
}

static void append_quoted(struct str *out, const char *word)
{
	str_append(out, "'");
	for (; *word; word++)
		if (*word == '\'')
			str_append(out, "'\\''");
		else
			str_append_char(out, *word);
	str_append(out, "' ");
}

static void try_line(const char *text)
{
	struct arena arena = {0};
	struct error err = {0};
	struct command_line line, again;
	struct str quoted = {0};
	if (!command_line_parse(text, SHELL_AS_NEEDED, "/bin/sh", &arena, &line, &err)) {
		check(err.code == ERROR_USAGE && err.text[0], "an error without its text");
	} else if (line.by_shell) {
		check(!strcmp(line.argv[0], "/bin/sh") && !strcmp(line.argv[1], "-c") &&
			      !strcmp(line.argv[2], text) && !line.argv[3],
		      "the shell gets another command");
		check(!command_line_parse(text, SHELL_NEVER, "/bin/sh", &arena, &again, &err),
		      "a shell that may not be is not needed");
	} else {
		check(line.argv[0][0], "a program without a name");
		for (size_t i = 0; line.argv[i]; i++)
			append_quoted(&quoted, line.argv[i]);
		check(command_line_parse(quoted.text, SHELL_NEVER, "/bin/sh", &arena, &again, &err),
		      "words do not parse, quoted");
		for (size_t i = 0; line.argv[i]; i++)
			check(again.argv[i] && !strcmp(again.argv[i], line.argv[i]),
			      "a word is another one, quoted");
	}
	str_free(&quoted);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_gate(text);
	try_line(text);
	free(text);
	return 0;
}

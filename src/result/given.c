#include "result/given.h"

#include <stdbool.h>
#include <string.h>

/* By the beginning of its name (backend/engine/inputs.c). */
static const struct {
	const char *of, *fix;
} fixes[] = {
	{"the time", "let the program end after some work, not after some time"},
	{"process or thread ids", "keep ids out of names, texts and hashes"},
	{"addresses of memory", "do not sort or hash by address"},
	{"contents of files in /proc", "give the program what it reads there as an option or a file"},
	{"contents of files", "begin each run with the same files"},
	{"what came by pipes", "let it read a file: a pipe comes in pieces of any size"},
	{"what came by sockets", "let it read a file"},
	{"what came from devices", "redirect its input from a file"},
	{"entries of directories", "begin each run with the same directories"},
	{"attributes of files", "begin each run with the same files, not with new copies"},
	{"signals", "wait for one process after the other, without pipelines"},
};

static const char *fix_of(const char *line)
{
	for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++)
		if (strncmp(line, fixes[i].of, strlen(fixes[i].of)) == 0)
			return fixes[i].fix;
	return NULL;
}

/* Without what stands in brackets. */
static size_t name_length(const char *line)
{
	size_t length = strcspn(line, "\t\n");
	for (size_t i = 1; i < length; i++)
		if (line[i] == '(' && line[i - 1] == ' ')
			return i - 1;
	return length;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* The line of the same thing; NULL: it was not given. */
static const char *find(const char *text, const char *line)
{
	size_t named = strcspn(line, "\t\n");
	for (; *text; text = next_line(text))
		if (strcspn(text, "\t\n") == named && strncmp(text, line, named) == 0)
			return text;
	return NULL;
}

static bool same_line(const char *a, const char *b)
{
	size_t length = strcspn(a, "\n");
	return b && strcspn(b, "\n") == length && strncmp(a, b, length) == 0;
}

size_t given_differing(const char *const *given, size_t n, struct str *names, const char **fix)
{
	size_t differing = 0;
	*fix = NULL;
	for (size_t i = 0; i < n; i++)
		for (const char *line = given[i]; *line; line = next_line(line)) {
			bool before = false, same = true;
			for (size_t k = 0; k < n; k++) {
				const char *other = find(given[k], line);
				before |= k < i && other;
				same &= same_line(line, other);
			}
			if (before || same)
				continue;
			*fix = differing ? *fix : fix_of(line);
			str_appendf(names, "%s%.*s", differing++ ? ", " : "", (int)name_length(line), line);
		}
	return differing;
}

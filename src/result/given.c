#include "result/given.h"

#include <stdlib.h>
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

static bool read_line(const char *line, size_t length, struct given_thing *thing)
{
	const char *end = line + length, *times = memchr(line, '\t', length);
	if (!times || times == line)
		return false;
	char *after_times;
	uint64_t n = strtoull(times + 1, &after_times, 10);
	if (times[1] < '0' || times[1] > '9' || after_times >= end || *after_times != '\t')
		return false;
	const char *sum = after_times + 1;
	size_t digits = strspn(sum, "0123456789abcdef");
	*thing = (struct given_thing){line, sum, (size_t)(times - line), digits, n};
	return digits && sum + digits == end;
}

bool given_next(const char **text, struct given_thing *thing)
{
	while (**text) {
		const char *line = *text;
		size_t length = strcspn(line, "\n");
		*text = line + length + (line[length] == '\n');
		if (read_line(line, length, thing))
			return true;
	}
	return false;
}

static const char *fix_of(const struct given_thing *thing)
{
	for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++)
		if (strncmp(thing->what, fixes[i].of, strlen(fixes[i].of)) == 0)
			return fixes[i].fix;
	return NULL;
}

/* Without what stands in brackets. */
static size_t name_length(const struct given_thing *thing)
{
	for (size_t i = 1; i < thing->what_length; i++)
		if (thing->what[i] == '(' && thing->what[i - 1] == ' ')
			return i - 1;
	return thing->what_length;
}

static bool same_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && memcmp(a, b, a_length) == 0;
}

/* The same thing, of another text. False: it was not given there. */
static bool find(const char *text, const struct given_thing *thing, struct given_thing *other)
{
	while (given_next(&text, other))
		if (same_bytes(other->what, other->what_length, thing->what, thing->what_length))
			return true;
	return false;
}

static bool same_value(const struct given_thing *a, const struct given_thing *b)
{
	return a->times == b->times && same_bytes(a->sum, a->sum_length, b->sum, b->sum_length);
}

size_t given_differing(const char *const *given, size_t n, struct str *names, const char **fix)
{
	size_t differing = 0;
	*fix = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *text = given[i];
		struct given_thing thing, other;
		while (given_next(&text, &thing)) {
			bool before = false, same = true;
			for (size_t k = 0; k < n; k++) {
				bool there = find(given[k], &thing, &other);
				before |= k < i && there;
				same &= there && same_value(&thing, &other);
			}
			if (before || same)
				continue;
			*fix = differing ? *fix : fix_of(&thing);
			str_appendf(names, "%s%.*s", differing++ ? ", " : "", (int)name_length(&thing),
				    thing.what);
		}
	}
	return differing;
}

/* The value of "name TAB value"; NULL: there is no such line. */
static const char *value_of(const char *text, const char *name, size_t *length)
{
	size_t n = strlen(name);
	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (strncmp(text, name, n) == 0 && text[n] == '\t') {
			*length = strcspn(text + n + 1, "\t\n");
			return text[n + 1 + *length] == '\t' || !*length ? NULL : text + n + 1;
		}
	return NULL;
}

enum given_fact given_several_tasks(const char *const *given, size_t n)
{
	enum given_fact fact = GIVEN_NO;
	for (size_t i = 0; i < n; i++) {
		size_t length;
		const char *tasks = value_of(given[i], "tasks", &length);
		if (tasks && same_bytes(tasks, length, "several", 7))
			return GIVEN_YES;
		if (!tasks || !same_bytes(tasks, length, "one", 3))
			fact = GIVEN_UNKNOWN;
	}
	return fact;
}

enum given_fact given_same_code(const char *a, const char *b)
{
	size_t a_length, b_length;
	const char *one = value_of(a, "code", &a_length), *other = value_of(b, "code", &b_length);
	if (!one || !other)
		return GIVEN_UNKNOWN;
	return same_bytes(one, a_length, other, b_length) ? GIVEN_YES : GIVEN_NO;
}

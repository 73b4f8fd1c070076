#include <string.h>

#include "base/str.h"
#include "symbol/places.h"

enum { NAME_MOST_BYTES = 200, PLACE_MOST_BYTES = 4096 };

static bool malformed(const char *text, const char *why, struct error *err)
{
	error_set(err, ERROR_USAGE, "'%.200s' is not a region: %s", text, why);
	return error_hint(err, "NAME=FUNCTION, NAME=FILE:FIRST-LAST, NAME=0xLOW-0xHIGH, each with MODULE! before "
			       "it where it is in a library");
}

/* "operator==", "operator=": the '=' is of the function's name. */
static bool ends_in_operator(const char *text, size_t length)
{
	static const char word[] = "operator";
	while (length && strchr("=<>!+-*/%^&|", text[length - 1]))
		length--;
	size_t n = sizeof word - 1;
	return length >= n && strncmp(text + length - n, word, n) == 0;
}

static const char *end_of_name(const char *text)
{
	for (const char *at = text; (at = strchr(at, '=')); at++)
		if (!ends_in_operator(text, (size_t)(at - text)))
			return at;
	return NULL;
}

/* "10", "10-20". False: it is none. */
static bool parse_lines(const char *text, unsigned *first, unsigned *last)
{
	char copy[32];
	unsigned long long a, b;
	if (strlen(text) >= sizeof copy || !*text || text[strspn(text, "0123456789-")])
		return false;
	strcpy(copy, text);
	char *dash = strchr(copy, '-');
	if (dash)
		*dash++ = '\0';
	if (!str_to_u64(copy, &a) || !(dash ? str_to_u64(dash, &b) : (b = a, true)) || b > 0x7fffffff ||
	    a > 0x7fffffff)
		return false;
	*first = (unsigned)a;
	*last = (unsigned)b;
	return true;
}

static bool parse_addresses(const char *text, uint64_t *low, uint64_t *high)
{
	char copy[64];
	unsigned long long a, b;
	char *dash;
	if (strncmp(text, "0x", 2) != 0 || strlen(text) >= sizeof copy)
		return false;
	strcpy(copy, text);
	if (!(dash = strchr(copy, '-')))
		return false;
	*dash++ = '\0';
	if (!str_to_u64(copy, &a) || strncmp(dash, "0x", 2) != 0 || !str_to_u64(dash, &b))
		return false;
	*low = a;
	*high = b;
	return true;
}

static bool is_module(const char *text) { return strchr(text, '/') || strstr(text, ".so"); }

/* The last ':' that is not half of a "::", before any parenthesis or angle bracket. */
static const char *single_colon(const char *text)
{
	const char *found = NULL;
	for (const char *at = text; *at && *at != '(' && *at != '<'; at++) {
		if (*at != ':')
			continue;
		if (at[1] == ':')
			at++;
		else
			found = at;
	}
	return found;
}

static bool parse_place(const char *text, struct arena *arena, struct place_spec *out, struct error *err)
{
	const char *mark = strchr(text, '!'), *rest = text;
	if (mark && mark > text && !ends_in_operator(text, (size_t)(mark - text))) {
		if (!(out->module = arena_strndup(arena, text, (size_t)(mark - text))))
			return error_no_memory(err);
		rest = mark + 1;
	}
	if (parse_addresses(rest, &out->low, &out->high)) {
		out->kind = PLACE_ADDRESSES;
		return out->low < out->high || malformed(text, "its addresses do not ascend", err);
	}
	const char *colon = single_colon(rest);
	if (colon && parse_lines(colon + 1, &out->first, &out->last)) {
		if (colon == rest)
			return malformed(text, "no file is named before the ':'", err);
		out->kind = PLACE_LINES;
		if (out->first == 0)
			return malformed(text, "lines begin at 1", err);
		if (out->last < out->first)
			return malformed(text, "its lines do not ascend", err);
		return (out->file = arena_strndup(arena, rest, (size_t)(colon - rest))) || error_no_memory(err);
	}
	out->kind = PLACE_FUNCTION;
	if (colon) {
		const char *before = arena_strndup(arena, rest, (size_t)(colon - rest));
		if (!before)
			return error_no_memory(err);
		if (!*before)
			return malformed(text, "nothing is named before the ':'", err);
		if (!out->module && is_module(before))
			out->module = before;
		else
			out->file = before;
		rest = colon + 1;
	}
	out->function = arena_strdup(arena, rest);
	if (!out->function)
		return error_no_memory(err);
	if (!*rest)
		return malformed(text, "it names no place", err);
	if (strncmp(rest, "0x", 2) == 0)
		return malformed(text, "give two addresses, as in 0x1000-0x1040", err);
	if (rest[strspn(rest, "0123456789-")] == '\0')
		return malformed(text, "lines need their file, as in sort.c:10-20", err);
	return true;
}

bool place_parse(const char *text, struct arena *arena, struct place_spec *out, struct error *err)
{
	const char *equals = end_of_name(text), *place = equals ? equals + 1 : text;
	*out = (struct place_spec){0};
	if (!*text)
		return malformed(text, "it is empty", err);
	if (equals == text)
		return malformed(text, "its name is empty", err);
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return malformed(text, "it has control characters", err);
	if (strlen(place) > PLACE_MOST_BYTES)
		return malformed(text, "it is longer than 4096 bytes", err);
	if (equals && equals - text > NAME_MOST_BYTES)
		return malformed(text, "its name is longer than 200 bytes", err);
	if (!*place)
		return malformed(text, "it names no place", err);
	out->text = arena_strdup(arena, place);
	out->name = equals ? arena_strndup(arena, text, (size_t)(equals - text)) : out->text;
	if (!out->text || !out->name)
		return error_no_memory(err);
	return parse_place(out->text, arena, out, err);
}

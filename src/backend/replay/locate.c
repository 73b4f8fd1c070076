/* The text has been accepted by jansson before, so that only as much of JSON (RFC 8259) is recognised here as is
 * needed to walk over it: strings, and the brackets outside them. */
#include "backend/replay/locate.h"

#include <stdbool.h>
#include <string.h>

struct json_walk {
	const char *at, *end;
};

static void skip_space(struct json_walk *w)
{
	while (w->at < w->end && (*w->at == ' ' || *w->at == '\t' || *w->at == '\n' || *w->at == '\r'))
		w->at++;
}

/* From the opening quote to behind the closing one. */
static void skip_string(struct json_walk *w)
{
	for (w->at++; w->at < w->end && *w->at != '"'; w->at++)
		if (*w->at == '\\' && w->at + 1 < w->end)
			w->at++;
	if (w->at < w->end)
		w->at++;
}

/* Over one value, and the comma or colon behind it stays. */
static void skip_value(struct json_walk *w)
{
	size_t depth = 0;
	skip_space(w);
	while (w->at < w->end) {
		char c = *w->at;
		if (c == '"') {
			skip_string(w);
			if (depth == 0)
				return;
			continue;
		}
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return;
		w->at++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return;
	}
}

static bool enter_object(struct json_walk *w, const char *key)
{
	size_t key_length = strlen(key);
	if (w->at >= w->end || *w->at != '{')
		return false;
	w->at++;
	for (;;) {
		skip_space(w);
		if (w->at >= w->end || *w->at != '"')
			return false;
		const char *name = w->at + 1;
		skip_string(w);
		size_t length = (size_t)(w->at - name);
		length -= length > 0; /* the closing quote */
		skip_space(w);
		if (w->at < w->end && *w->at == ':')
			w->at++;
		skip_space(w);
		if (length == key_length && memcmp(name, key, length) == 0)
			return true;
		skip_value(w);
		skip_space(w);
		if (w->at >= w->end || *w->at != ',')
			return false;
		w->at++;
	}
}

static bool enter_array(struct json_walk *w, size_t index)
{
	if (w->at >= w->end || *w->at != '[')
		return false;
	w->at++;
	for (size_t i = 0; i < index; i++) {
		skip_value(w);
		skip_space(w);
		if (w->at >= w->end || *w->at != ',')
			return false;
		w->at++;
	}
	skip_space(w);
	return w->at < w->end;
}

/* Stands at the place afterwards, or, when false, at the innermost value around it that was found. */
static bool go_to(struct json_walk *w, const struct json_place *place)
{
	if (!place || !place->parent) {
		skip_space(w);
		return true;
	}
	if (!go_to(w, place->parent))
		return false;
	struct json_walk inner = *w;
	if (!(place->key ? enter_object(&inner, place->key) : enter_array(&inner, place->index)))
		return false;
	*w = inner;
	return true;
}

void locate(const char *text, size_t length, const struct json_place *place, unsigned *line, unsigned *column)
{
	struct json_walk w = {text, text + length};
	go_to(&w, place);
	*line = *column = 1;
	for (const char *p = text; p < w.at; p++) {
		if (*p == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)*p & 0xc0) != 0x80) { /* not a continuation byte of UTF-8 */
			++*column;
		}
	}
}

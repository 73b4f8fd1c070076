#include "base/stanza.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"

struct stanza_parser {
	const char *source;
	struct arena *arena;
	VEC(struct stanza) stanzas;
	VEC(struct stanza_key) keys; /* of the stanza that is being read */
};

static bool syntax(const struct stanza_parser *p, unsigned line, size_t column, const char *what,
		   struct error *err)
{
	return error_set(err, ERROR_SYNTAX, "%s:%u:%zu: %s", p->source, line, column, what);
}

/* Moves the collected keys into the last stanza. */
static bool close_stanza(struct stanza_parser *p, struct error *err)
{
	if (p->stanzas.count == 0)
		return true;
	struct stanza *last = &p->stanzas.items[p->stanzas.count - 1];
	struct stanza_key *keys = arena_alloc(p->arena, p->keys.count * sizeof *keys + 1);
	if (!keys)
		return error_no_memory(err);
	if (p->keys.count)
		memcpy(keys, p->keys.items, p->keys.count * sizeof *keys);
	last->keys = keys;
	last->n_keys = p->keys.count;
	p->keys.count = 0;
	return true;
}

static const char *trimmed(struct arena *arena, const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return arena_strndup(arena, from, (size_t)(to - from));
}

static bool parse_line(struct stanza_parser *p, const char *start, const char *end, unsigned line,
		       struct error *err)
{
	const char *first = start;
	while (first < end && isspace((unsigned char)*first))
		first++;
	if (first == end || *first == '#')
		return true;
	if (memchr(start, '\0', (size_t)(end - start)))
		return syntax(p, line, 1, "a NUL byte in a text file", err);
	if (*first == '[' && first == start) {
		const char *close = memchr(first, ']', (size_t)(end - first));
		if (!close)
			return syntax(p, line, (size_t)(end - start) + 1, "expected ']' after the stanza's name",
				      err);
		struct stanza stanza = {.name = trimmed(p->arena, first + 1, close), .line = line};
		if (!stanza.name)
			return error_no_memory(err);
		if (!*stanza.name)
			return syntax(p, line, 2, "a stanza needs a name", err);
		if (!close_stanza(p, err))
			return false;
		return vec_push(&p->stanzas, stanza) || error_no_memory(err);
	}
	if (p->stanzas.count == 0)
		return syntax(p, line, (size_t)(first - start) + 1, "expected '[name]' before the first key", err);
	if (first > start) {
		if (p->keys.count == 0)
			return syntax(p, line, (size_t)(first - start) + 1, "an indented line continues no value",
				      err);
		struct stanza_key *key = &p->keys.items[p->keys.count - 1];
		const char *more = trimmed(p->arena, first, end);
		key->value = more ? arena_printf(p->arena, "%s%s%s", key->value, *key->value ? " " : "", more)
				  : NULL;
		return key->value || error_no_memory(err);
	}
	const char *equals = memchr(first, '=', (size_t)(end - first));
	if (!equals)
		return syntax(p, line, (size_t)(end - start) + 1, "expected 'key = value'", err);
	struct stanza_key key = {trimmed(p->arena, first, equals), trimmed(p->arena, equals + 1, end), line};
	if (!key.key || !key.value)
		return error_no_memory(err);
	if (!*key.key)
		return syntax(p, line, 1, "a key is missing before '='", err);
	return vec_push(&p->keys, key) || error_no_memory(err);
}

bool stanza_parse(const char *text, size_t length, const char *source, struct arena *arena,
		  struct stanza **stanzas, size_t *count, struct error *err)
{
	struct stanza_parser p = {.source = source, .arena = arena};
	const char *at = text, *end = text + length;
	bool ok = true;
	for (unsigned line = 1; ok && at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		ok = parse_line(&p, at, stop, line, err);
		at = stop + 1;
	}
	ok = ok && close_stanza(&p, err);
	if (ok) {
		*stanzas = arena_alloc(arena, p.stanzas.count * sizeof **stanzas + 1);
		if (!*stanzas)
			ok = error_no_memory(err);
		else if (p.stanzas.count)
			memcpy(*stanzas, p.stanzas.items, p.stanzas.count * sizeof **stanzas);
		*count = p.stanzas.count;
	}
	vec_free(&p.stanzas);
	vec_free(&p.keys);
	return ok;
}

const char *stanza_get(const struct stanza *stanza, const char *key)
{
	for (size_t i = 0; i < stanza->n_keys; i++)
		if (strcmp(stanza->keys[i].key, key) == 0)
			return stanza->keys[i].value;
	return NULL;
}

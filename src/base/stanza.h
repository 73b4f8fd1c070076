/* The format of tare's data files: stanzas of keys.
 *
 *     # a comment
 *     [name]
 *     key = value, to the end of the line
 *       an indented line continues the value before it (joined by one space)
 *
 * Keys may repeat within a stanza where the reader of the file allows it; order is kept. */
#ifndef TARE_BASE_STANZA_H
#define TARE_BASE_STANZA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct stanza_key {
	const char *key;
	const char *value;
	unsigned line; /* 1-based, for messages */
};

struct stanza {
	const char *name;
	unsigned line;
	const struct stanza_key *keys;
	size_t n_keys;
};

/* Parses text[length]; source is the file's name for messages. The stanzas and all their strings live
 * in arena. On failure the error has "source:line:column". */
bool stanza_parse(const char *text, size_t length, const char *source, struct arena *arena,
		  struct stanza **stanzas, size_t *count, struct error *err);

/* The value of the first such key, or NULL. */
const char *stanza_get(const struct stanza *stanza, const char *key);

#endif

/* Where in a JSON text a value stands, for messages: jansson keeps no positions of what it parsed. */
#ifndef TARE_BACKEND_REPLAY_LOCATE_H
#define TARE_BACKEND_REPLAY_LOCATE_H

#include <stddef.h>

/* A value's place: a chain from the value up to the whole text (parent NULL, neither key nor index used).
 * Lives on the parser's stack. */
struct json_place {
	const struct json_place *parent;
	const char *key; /* in an object; NULL: in an array, at index */
	size_t index;
};

/* Fills the 1-based line and column (in characters) of the value's first character; of the innermost value
 * around it that can be found, where it cannot (a key written with escapes). text is valid JSON, except that
 * any bytes are safe. */
void locate(const char *text, size_t length, const struct json_place *place, unsigned *line, unsigned *column);

#endif

/* Values of a recording's JSON, each complaint with its place. Every function that takes a value takes its
 * place; a place is a chain on the stack (locate.h). On failure the reader's error is set. */
#ifndef TARE_BACKEND_REPLAY_READ_VALUES_H
#define TARE_BACKEND_REPLAY_READ_VALUES_H

#include <jansson.h>

#include "backend/replay/locate.h"
#include "backend/replay/recording.h"

struct recording_reader {
	const char *text;
	size_t length;
	struct recording *out;
	struct error *err;
};

/* "file:line:column: reason"; false. */
bool read_refuse(struct recording_reader *r, const struct json_place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
struct json_place read_member(const struct json_place *parent, const char *key);
struct json_place read_item(const struct json_place *parent, size_t index);
/* count × bytes of the recording's arena; NULL: out of memory. */
void *read_room(struct recording_reader *r, size_t count, size_t bytes);

/* An object with these keys alone (they end with NULL). */
bool read_is_object(struct recording_reader *r, const json_t *value, const struct json_place *place,
		    const char *const *known_keys);
/* An optional array; *count is 0 without it. */
bool read_array(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
		size_t most, const json_t **array, size_t *count);
bool read_check_u64(struct recording_reader *r, const json_t *value, const struct json_place *place, uint64_t most,
		    uint64_t *out);
/* An optional number; *out stays what it was without it. */
bool read_u64(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
	      uint64_t most, uint64_t *out);
/* An optional string, borrowed from the JSON value; *out stays what it was without it. */
bool read_text(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
	       const char **out);
/* The same into a field of fixed size. A longer text is refused, not cut. */
bool read_short_text(struct recording_reader *r, const json_t *object, const struct json_place *place,
		     const char *key, char *out, size_t size);
/* One of the names, which end with NULL; *out is its index, and stays what it was without the key. */
bool read_choice(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
		 const char *const *names, unsigned *out);
/* False: no event has this name; *index is then the number of events. */
bool read_find_event(const struct recording *recording, const char *name, size_t *index);

/* read_corruptions.c: the key `corrupt` of the top; after the events. */
bool read_corruptions(struct recording_reader *r, const json_t *root, const struct json_place *top);

#endif

#include "backend/replay/read_values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "file:line:column: reason"; false. */
bool read_refuse(struct recording_reader *r, const struct json_place *place, const char *format, ...)
{
	char reason[384];
	unsigned line, column;
	va_list args;
	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	locate(r->text, r->length, place, &line, &column);
	return error_set(r->err, ERROR_SYNTAX, "%s:%u:%u: %s", r->out->path, line, column, reason);
}

struct json_place read_member(const struct json_place *parent, const char *key)
{
	return (struct json_place){.parent = parent, .key = key};
}

struct json_place read_item(const struct json_place *parent, size_t index)
{
	return (struct json_place){.parent = parent, .index = index};
}

void *read_room(struct recording_reader *r, size_t count, size_t bytes)
{
	void *memory = arena_alloc(&r->out->arena, count * bytes + 1);
	if (!memory)
		error_no_memory(r->err);
	return memory;
}

/* ---- values ---- */

bool read_is_object(struct recording_reader *r, const json_t *value, const struct json_place *place,
		    const char *const *known_keys)
{
	const char *key;
	json_t *each;
	if (!json_is_object(value))
		return read_refuse(r, place, "expected an object");
	json_object_foreach((json_t *)value, key, each)
	{
		const char *const *known = known_keys;
		while (*known && strcmp(*known, key) != 0)
			known++;
		struct json_place where = read_member(place, key);
		if (!*known)
			return read_refuse(r, &where, "'%s' is not a key of this object", key);
	}
	return true;
}

/* An optional array; *count is 0 without it. */
bool read_array(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
		size_t most, const json_t **array, size_t *count)
{
	struct json_place where = read_member(place, key);
	*array = json_object_get(object, key);
	*count = json_array_size(*array);
	if (*array && !json_is_array(*array))
		return read_refuse(r, &where, "'%s' must be an array", key);
	if (*count > most)
		return read_refuse(r, &where, "'%s' has %zu item%s; at most %zu are possible", key, *count,
				   *count == 1 ? "" : "s", most);
	return true;
}

bool read_check_u64(struct recording_reader *r, const json_t *value, const struct json_place *place, uint64_t most,
		    uint64_t *out)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return read_refuse(r, place, "expected a whole number, 0 or more");
	*out = (uint64_t)json_integer_value(value);
	if (*out > most)
		return read_refuse(r, place, "%" PRIu64 " is too large: at most %" PRIu64 " is possible", *out,
				   most);
	return true;
}

/* An optional number; *out stays what it was without it. */
bool read_u64(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
	      uint64_t most, uint64_t *out)
{
	const json_t *value = json_object_get(object, key);
	struct json_place where = read_member(place, key);
	return !value || read_check_u64(r, value, &where, most, out);
}

/* An optional string, borrowed from the JSON value; *out stays what it was without it. */
bool read_text(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
	       const char **out)
{
	const json_t *value = json_object_get(object, key);
	struct json_place where = read_member(place, key);
	if (!value)
		return true;
	if (!json_is_string(value) || json_string_length(value) == 0)
		return read_refuse(r, &where, "'%s' must be a string that is not empty", key);
	*out = json_string_value(value);
	return true;
}

/* The same into a field of fixed size. A longer text is refused, not cut. */
bool read_short_text(struct recording_reader *r, const json_t *object, const struct json_place *place,
		     const char *key, char *out, size_t size)
{
	const char *text = "";
	struct json_place where = read_member(place, key);
	if (!read_text(r, object, place, key, &text))
		return false;
	if (strlen(text) >= size)
		return read_refuse(r, &where, "'%s' is longer than %zu bytes", key, size - 1);
	strcpy(out, text);
	return true;
}

/* One of the names, which end with NULL; *out is its index, and stays what it was without the key. */
bool read_choice(struct recording_reader *r, const json_t *object, const struct json_place *place, const char *key,
		 const char *const *names, unsigned *out)
{
	const char *text = NULL;
	struct json_place where = read_member(place, key);
	char list[256] = "";
	if (!read_text(r, object, place, key, &text))
		return false;
	if (!text)
		return true;
	for (unsigned i = 0; names[i]; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = i;
			return true;
		}
		size_t used = strlen(list);
		snprintf(list + used, sizeof list - used, "%s'%s'", i ? ", " : "", names[i]);
	}
	return read_refuse(r, &where, "'%s' is not known: %s is one of %s", text, key, list);
}

bool read_find_event(const struct recording *recording, const char *name, size_t *index)
{
	for (*index = 0; *index < recording->n_events; ++*index)
		if (strcmp(recording->events[*index].name, name) == 0)
			return true;
	return false;
}

#include "store/runs/fields.h"

#include <endian.h>
#include <limits.h>
#include <math.h>
#include <string.h>

_Static_assert(sizeof(double) == sizeof(uint64_t), "a number of an array takes 8 bytes");
_Static_assert(sizeof(size_t) == sizeof(uint64_t) && __BYTE_ORDER == __LITTLE_ENDIAN,
	       "arrays are kept as they are in memory");

void fields_names(struct str *sql, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_appendf(sql, "%s%s", i ? ", " : "", fields[i].column);
}

static const void *member(const void *record, size_t offset) { return (const char *)record + offset; }

static int bind_text(sqlite3_stmt *s, int at, const char *text, uint64_t *bytes)
{
	if (!text)
		return sqlite3_bind_null(s, at);
	size_t length = strlen(text);
	*bytes += length;
	return sqlite3_bind_text64(s, at, text, length, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_words(sqlite3_stmt *s, int at, const char *const *words, uint64_t *bytes)
{
	struct str joined = {0};
	if (!words)
		return sqlite3_bind_null(s, at);
	for (; *words; words++)
		str_append_bytes(&joined, *words, strlen(*words) + 1);
	int code = joined.failed ? SQLITE_NOMEM
				 : sqlite3_bind_blob64(s, at, joined.text ? joined.text : "", joined.length,
						       SQLITE_TRANSIENT);
	*bytes += joined.length;
	str_free(&joined);
	return code;
}

static int bind_array(sqlite3_stmt *s, int at, const void *items, size_t n, uint64_t *bytes)
{
	*bytes += n * sizeof(uint64_t);
	return n ? sqlite3_bind_blob64(s, at, items, n * sizeof(uint64_t), SQLITE_STATIC)
		 : sqlite3_bind_zeroblob(s, at, 0);
}

static int bind_one(sqlite3_stmt *s, int at, const struct field *f, const void *record, uint64_t *bytes)
{
	const void *value = member(record, f->offset);
	*bytes += 4; /* about what a number and its type take in a row */
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_WORD: return bind_text(s, at, *(const char *const *)value, bytes);
	case FIELD_WORDS: return bind_words(s, at, *(const char *const *const *)value, bytes);
	case FIELD_REAL:
		return isnan(*(const double *)value) ? sqlite3_bind_null(s, at)
						     : sqlite3_bind_double(s, at, *(const double *)value);
	case FIELD_INT: return sqlite3_bind_int(s, at, *(const int *)value);
	case FIELD_BOOL: return sqlite3_bind_int(s, at, *(const bool *)value);
	case FIELD_U64: return sqlite3_bind_int64(s, at, (sqlite3_int64) * (const uint64_t *)value);
	case FIELD_SIZE: return sqlite3_bind_int64(s, at, (sqlite3_int64) * (const size_t *)value);
	case FIELD_REALS:
	case FIELD_COUNTS:
		return bind_array(s, at, *(const void *const *)value,
				  *(const size_t *)member(record, f->count_offset), bytes);
	}
	return SQLITE_MISUSE;
}

int fields_bind(sqlite3_stmt *statement, int first, const struct field *fields, size_t n, const void *record,
		uint64_t *bytes)
{
	int code = SQLITE_OK;
	for (size_t i = 0; i < n && code == SQLITE_OK; i++)
		code = bind_one(statement, first + (int)i, &fields[i], record, bytes);
	return code;
}

/* ---- reading ---- */

static bool damaged(const struct field *f, struct error *err)
{
	return error_set(err, ERROR_SYNTAX, "damaged: '%s' has a value that it cannot have", f->column);
}

static bool is_word(const char *text)
{
	size_t length = 0;
	for (; text[length]; length++)
		if (length >= FIELD_WORD_BYTES || (unsigned char)text[length] < ' ' || text[length] == 0x7f)
			return false;
	return true;
}

static bool read_text(sqlite3_stmt *s, int at, const struct field *f, const char **out, struct arena *arena,
		      struct error *err)
{
	const char *text = (const char *)sqlite3_column_text(s, at);
	*out = NULL;
	if (!text && sqlite3_column_type(s, at) != SQLITE_NULL)
		return error_no_memory(err);
	if (text ? f->type == FIELD_WORD && !is_word(text) : f->most != 0)
		return damaged(f, err);
	if (text && !(*out = arena_strdup(arena, text)))
		return error_no_memory(err);
	return true;
}

static bool read_words(sqlite3_stmt *s, int at, const struct field *f, const char *const **out,
		       struct arena *arena, struct error *err)
{
	*out = NULL;
	if (sqlite3_column_type(s, at) == SQLITE_NULL)
		return true;
	const char *bytes = sqlite3_column_blob(s, at);
	size_t length = (size_t)sqlite3_column_bytes(s, at), n = 0;
	if (length && (!bytes || bytes[length - 1] != '\0'))
		return damaged(f, err);
	for (size_t i = 0; i < length; i++)
		n += bytes[i] == '\0';
	char *copy = arena_alloc(arena, length + 1);
	const char **words = arena_alloc(arena, (n + 1) * sizeof *words);
	if (!copy || !words)
		return error_no_memory(err);
	if (length)
		memcpy(copy, bytes, length);
	for (size_t i = 0; i < n; i++, copy += strlen(copy) + 1)
		words[i] = copy;
	*out = words;
	return true;
}

static bool read_array(sqlite3_stmt *s, int at, const struct field *f, void **items, size_t *n,
		       struct arena *arena, struct error *err)
{
	const void *bytes = sqlite3_column_blob(s, at);
	size_t length = (size_t)sqlite3_column_bytes(s, at);
	*items = NULL;
	*n = length / sizeof(uint64_t);
	if (length % sizeof(uint64_t) || (length && !bytes))
		return damaged(f, err);
	if (!length)
		return true;
	if (!(*items = arena_alloc(arena, length)))
		return error_no_memory(err);
	memcpy(*items, bytes, length);
	return true;
}

static bool read_one(sqlite3_stmt *s, int at, const struct field *f, void *record, struct arena *arena,
		     struct error *err)
{
	void *value = (char *)record + f->offset;
	sqlite3_int64 number = sqlite3_column_int64(s, at);
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_WORD: return read_text(s, at, f, value, arena, err);
	case FIELD_WORDS: return read_words(s, at, f, value, arena, err);
	case FIELD_REAL:
		*(double *)value = sqlite3_column_type(s, at) == SQLITE_NULL ? NAN : sqlite3_column_double(s, at);
		return true;
	case FIELD_INT:
		if (f->most ? number < 0 || number > f->most : number < INT_MIN || number > INT_MAX)
			return damaged(f, err);
		*(int *)value = (int)number;
		return true;
	case FIELD_BOOL: *(bool *)value = number != 0; return true;
	case FIELD_U64: *(uint64_t *)value = (uint64_t)number; return true;
	case FIELD_SIZE:
		if (number < 0 || (f->most && number > f->most))
			return damaged(f, err);
		*(size_t *)value = (size_t)number;
		return true;
	case FIELD_REALS:
	case FIELD_COUNTS:
		return read_array(s, at, f, value, (size_t *)((char *)record + f->count_offset), arena, err);
	}
	return damaged(f, err);
}

bool fields_read(sqlite3_stmt *statement, int first, const struct field *fields, size_t n, void *record,
		 struct arena *arena, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (!read_one(statement, first + (int)i, &fields[i], record, arena, err))
			return false;
	return true;
}

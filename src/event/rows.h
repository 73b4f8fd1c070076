/* Rows of data files (base/stanza.h), found by their names.
 *
 * 1. A text either becomes rows as a whole, or leaves them as they were.
 * 2. A row's struct begins with its name (const char *). A row of a name that is there already takes its place. */
#ifndef TARE_EVENT_ROWS_H
#define TARE_EVENT_ROWS_H

#include "base/arena.h"
#include "base/embedded.h"
#include "base/hash.h"
#include "base/stanza.h"
#include "base/vec.h"

struct rows {
	VEC(const void *) all;
	struct hash_index index; /* of their names */
};

/* A stanza as a row in arena; NULL on failure. */
typedef const void *row_read(struct arena *arena, const struct stanza *stanza, const char *source,
			     struct error *err);

/* Rows and their strings live in arena. */
bool rows_add(struct rows *rows, row_read *read, struct arena *arena, const char *text, size_t length,
	      const char *source, struct error *err);
/* Of all files of a list (tools/embed). */
bool rows_add_embedded(struct rows *rows, row_read *read, struct arena *arena, const struct embedded_file *files,
		       struct error *err);
void rows_free(struct rows *rows);

/* NULL: there is none. */
const void *rows_at(const struct rows *rows, size_t index);
const void *rows_find(const struct rows *rows, const char *name);

#endif

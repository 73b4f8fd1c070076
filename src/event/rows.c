#include "event/rows.h"

#include <string.h>

static const char *name_of(const void *row) { return *(const char *const *)row; }

/* Where the row of that name is, or would be. */
static size_t place_of(const struct rows *rows, const char *name)
{
	struct hash_search search = hash_find(&rows->index, hash_text(HASH_BEGIN, name));
	for (uint32_t i; hash_next(&search, &i);)
		if (i < rows->all.count && strcmp(name_of(rows->all.items[i]), name) == 0)
			return i;
	return rows->all.count;
}

static bool add_place(struct rows *rows, const void *row)
{
	size_t count = rows->all.count;
	return vec_push(&rows->all, row) &&
	       hash_add(&rows->index, hash_text(HASH_BEGIN, name_of(row)), (uint32_t)count);
}

bool rows_add(struct rows *rows, row_read *read, struct arena *arena, const char *text, size_t length,
	      const char *source, struct error *err)
{
	struct rows more = {0};
	struct stanza *stanzas;
	size_t count;
	bool done = stanza_parse(text, length, source, arena, &stanzas, &count, err);
	for (size_t i = 0; done && i < count; i++) {
		const void *row = read(arena, &stanzas[i], source, err);
		done = row && (vec_push(&more.all, row) || error_no_memory(err));
	}
	/* room for all of them first, so that running out of memory adds none: what the index has beyond the rows'
	 * number is not a row's */
	size_t before = rows->all.count;
	for (size_t i = 0; done && i < more.all.count; i++)
		done = place_of(rows, name_of(more.all.items[i])) < rows->all.count ||
		       add_place(rows, more.all.items[i]) || error_no_memory(err);
	for (size_t i = 0; done && i < more.all.count; i++)
		rows->all.items[place_of(rows, name_of(more.all.items[i]))] = more.all.items[i];
	if (!done)
		rows->all.count = before;
	rows_free(&more);
	return done;
}

bool rows_add_embedded(struct rows *rows, row_read *read, struct arena *arena, const struct embedded_file *files,
		       struct error *err)
{
	for (const struct embedded_file *file = files; file->name; file++)
		if (!rows_add(rows, read, arena, file->text, file->length, file->name, err))
			return false;
	return true;
}

void rows_free(struct rows *rows)
{
	vec_free(&rows->all);
	hash_free(&rows->index);
}

const void *rows_at(const struct rows *rows, size_t index)
{
	return index < rows->all.count ? rows->all.items[index] : NULL;
}

const void *rows_find(const struct rows *rows, const char *name) { return rows_at(rows, place_of(rows, name)); }

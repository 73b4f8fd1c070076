/* Tables of papers of any content: no crash; an error always has a text; a table that was read is what the
 * header says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/paper_table.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_table(const struct paper_table *t)
{
	check(t->name && t->paper && t->number && t->title && t->n_columns && t->n_rows, "half a table");
	for (size_t r = 0; r < t->n_rows; r++)
		for (size_t c = 0; c < t->n_columns; c++) {
			check(paper_cell(t, t->cells[r][0], t->columns[c]) == t->cells[r][c],
			      "a cell is not found by its names");
			paper_number(t->cells[r][c]);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct paper_table table;
	struct arena arena = {0};
	struct error err = {0};
	char *text = malloc(size + 1); /* its end is where the sanitizer sees it */
	check(text != NULL, "no memory");
	if (size)
		memcpy(text, data, size);
	if (paper_table_read(text, size, "f", &arena, &table, &err))
		check_table(&table);
	else
		check(err.text[0] == 'f', "an error without a place");
	arena_free(&arena);
	free(text);
	return 0;
}

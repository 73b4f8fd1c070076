/* The papers' printed tables (data/papers/NAME.table), each cell as it is printed.
 *
 *     # a comment
 *     [korn-2]
 *     paper = korn
 *     number = Table 2
 *     title = Loop benchmark, comparative data
 *     note = of a reader's, where the print needs one
 *     columns = event | libperfex within 5% | …
 *     row = Decoded Instructions | 250 | …
 *
 * What always holds of a table that was read: it has a paper, a number, a title, a column and a row; every row
 * has as many cells as there are columns; no two rows begin with the same cell. */
#ifndef TARE_TRUST_PAPER_TABLE_H
#define TARE_TRUST_PAPER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { PAPER_COLUMNS_MOST = 16, PAPER_ROWS_MOST = 100 };

struct paper_table {
	const char *name, *paper, *number, *title;
	const char *note; /* NULL */
	size_t n_columns, n_rows;
	const char *columns[PAPER_COLUMNS_MOST];
	const char *cells[PAPER_ROWS_MOST][PAPER_COLUMNS_MOST]; /* "": empty */
};

/* Reads a table; source: for messages. What it points to is the arena's. ERROR_SYNTAX with the line. */
bool paper_table_read(const char *text, size_t length, const char *source, struct arena *arena,
		      struct paper_table *out, struct error *err);

/* One of the tables that tare carries. ERROR_NOT_FOUND. */
bool paper_table_find(const char *name, struct arena *arena, struct paper_table *out, struct error *err);

/* The cell; NULL: there is no such row or column. */
const char *paper_cell(const struct paper_table *table, const char *row, const char *column);

/* The first number of a printed cell: "3,996,245.00", "7535.2 ± 869.2", "-42%" (-42). NAN: it has none. */
double paper_number(const char *cell);

#endif

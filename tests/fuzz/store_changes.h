/* What an input of fuzz_store and fuzz_comparison changes in a store of runs: columns get other values, of any type, as SQLite lets
 * it. */
#ifndef TARE_TESTS_FUZZ_STORE_CHANGES_H
#define TARE_TESTS_FUZZ_STORE_CHANGES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_MOST = 40 };

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

struct input {
	const uint8_t *at;
	size_t left;
};

static uint64_t take(struct input *in, int bytes)
{
	uint64_t number = 0;
	for (int i = 0; i < bytes; i++) {
		number = number << 8 | (in->left ? *in->at : 0);
		in->at += in->left > 0;
		in->left -= in->left > 0;
	}
	return number;
}

static void bind(sqlite3_stmt *s, struct input *in)
{
	size_t n;
	double real;
	uint64_t bits;
	switch (take(in, 1) % 6) {
	case 0: sqlite3_bind_null(s, 1); break;
	case 1: sqlite3_bind_int64(s, 1, (sqlite3_int64)take(in, 8)); break;
	case 2: sqlite3_bind_int64(s, 1, (signed char)take(in, 1)); break;
	case 3:
		bits = take(in, 8);
		memcpy(&real, &bits, sizeof real);
		sqlite3_bind_double(s, 1, real);
		break;
	default:
		n = take(in, 1);
		bool blob = take(in, 1) & 1;
		n = n > in->left ? in->left : n;
		if (blob)
			sqlite3_bind_blob(s, 1, in->at, (int)n, SQLITE_TRANSIENT);
		else
			sqlite3_bind_text(s, 1, (const char *)in->at, (int)n, SQLITE_TRANSIENT);
		in->at += n;
		in->left -= n;
	}
}

/* Of the store in this file, in these tables. */
static void change_tables(const char *file, const char *const *tables, size_t n_tables, struct input *in)
{
	sqlite3 *db;
	check(sqlite3_open(file, &db) == SQLITE_OK, "the start cannot be opened");
	for (int i = 0; in->left && i < CHANGES_MOST; i++) {
		const char *table = tables[take(in, 1) % n_tables];
		unsigned column = (unsigned)take(in, 1), position = (unsigned)take(in, 1);
		char sql[200];
		sqlite3_stmt *s = NULL;
		snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
		check(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "no table");
		bool has_position = sqlite3_column_count(s) > 2 &&
				    strcmp(sqlite3_column_name(s, 2), "position") == 0;
		snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = ?%s", table,
			 sqlite3_column_name(s, (int)(column % (unsigned)sqlite3_column_count(s))),
			 has_position && position % 4 ? position % 4 == 1   ? " WHERE position = 0"
							: position % 4 == 2 ? " WHERE position = 1"
									    : " WHERE part = 0"
						      : "");
		sqlite3_finalize(s);
		if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK) {
			bind(s, in);
			sqlite3_step(s);
		}
		sqlite3_finalize(s);
	}
	sqlite3_close(db);
}

#endif

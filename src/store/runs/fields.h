/*
 * Members of records as columns of the store: one table of fields for each struct, for writing and for reading.
 *
 * Read values are checked: a number that its member cannot hold, an enumerator that there is not, a name with
 * control characters is an error ("damaged"). NULL stands for a text that is not there, and for a number that is
 * none (NAN).
 */
#ifndef TARE_STORE_RUNS_FIELDS_H
#define TARE_STORE_RUNS_FIELDS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum field_type {
	FIELD_TEXT,   /* const char *: any bytes */
	FIELD_WORD,   /* const char *: of a table's cell: no control characters, at most FIELD_WORD_BYTES */
	FIELD_WORDS,  /* const char *const *, ended by NULL: each with its zero byte, as a blob */
	FIELD_REAL,   /* double */
	FIELD_INT,    /* int, or an enum */
	FIELD_BOOL,   /* bool */
	FIELD_U64,    /* uint64_t, in the bits of SQLite's signed integer */
	FIELD_SIZE,   /* size_t */
	FIELD_REALS,  /* double *, with a size_t that counts them: little-endian, as a blob */
	FIELD_COUNTS, /* uint64_t *, likewise */
};

enum { FIELD_WORD_BYTES = 250 };

struct field {
	const char *column;
	enum field_type type;
	size_t offset;
	size_t count_offset; /* of REALS and COUNTS */
	/* of INT: 0 … most is valid, 0: any; of SIZE: likewise; of TEXT and WORD: not 0: never NULL */
	long most;
};

/* "a, b, c" */
void fields_names(struct str *sql, const struct field *fields, size_t n);

/* Binds the record's members from parameter `first` on; adds what they take to *bytes. Texts are borrowed until
 * the statement is reset. SQLITE_OK or its error. */
int fields_bind(sqlite3_stmt *statement, int first, const struct field *fields, size_t n, const void *record,
		uint64_t *bytes);

/* Reads the row's columns from `first` on (0-based) into the record; texts and arrays go to the arena. */
bool fields_read(sqlite3_stmt *statement, int first, const struct field *fields, size_t n, void *record,
		 struct arena *arena, struct error *err);

#endif

/* An open store, for the files of this folder. */
#ifndef TARE_STORE_RUNS_STORE_H
#define TARE_STORE_RUNS_STORE_H

#include <sqlite3.h>

#include "store/runs/records.h"
#include "store/runs/runs.h"

struct runs {
	sqlite3 *db;
	char *path; /* for messages */
	enum runs_access access;
	int version; /* of the tables */
};

/* NULL, and an error, where it cannot be prepared; verb is "read" or "write". */
sqlite3_stmt *store_prepare(struct runs *runs, const char *verb, const char *sql, struct error *err);
/* A statement without rows. */
bool store_execute(struct runs *runs, const char *sql, struct error *err);
/* Runs a prepared statement without rows, and resets it. */
bool store_step(struct runs *runs, sqlite3_stmt *statement, struct error *err);
bool store_fail(struct runs *runs, const char *verb, struct error *err);

/* One transaction for writing, which waits for others. store_end() commits when done, else undoes; returns whether
 * it was committed. */
bool store_begin(struct runs *runs, struct error *err);
bool store_end(struct runs *runs, bool done, struct error *err);

/* put.c: runs_put() within a transaction. */
bool store_put(struct runs *runs, struct kept_run *run, struct error *err);

#endif

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
	int version;   /* of the tables */
	int log_pages; /* after the last commit */
};

/* The column `part` of tables that hold rows of several kinds: estimates of the result, of its metrics, of each
 * region; notes of the result, of its breakdown, of its comparison. Of frames it is their row's position. */
enum {
	PART_RESULT,
	PART_METRICS,
	PART_FIRST_REGION,
	PART_BREAKDOWN = PART_METRICS,
	PART_COMPARISON = PART_FIRST_REGION
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

/* open.c: makes a new file of runs, without a log of its own beside it. */
bool store_open_file(const char *path, struct runs **out, struct error *err);
/* open.c: opens a file of somebody else's; nothing is written to it, or beside it. */
bool store_open_foreign(const char *path, struct runs **out, struct error *err);

/* list.c: the run of that name; 0: none. */
bool store_named(struct runs *runs, const char *name, int64_t *id, struct error *err);
bool store_name_is_valid(const char *name, struct error *err);

/* put.c: the id of the machine that run->result, cpu_features and microcode describe; a new row where there is
 * none. */
bool store_put_machine(struct runs *runs, const struct kept_run *run, int64_t *id, struct error *err);
/* put.c: runs_put() within a transaction. */
bool store_put(struct runs *runs, struct kept_run *run, struct error *err);

#endif

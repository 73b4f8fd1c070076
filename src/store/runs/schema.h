/* The database's tables, by version. */
#ifndef TARE_STORE_RUNS_SCHEMA_H
#define TARE_STORE_RUNS_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

enum {
	SCHEMA_APPLICATION_ID = 0x74617265, /* "tare", in the file's header: PRAGMA application_id */
	SCHEMA_VERSION = 8,                 /* PRAGMA user_version */
};

/* The version of an open database; 0: it is empty. False: it is not a store of runs (ERROR_SYNTAX), is of a newer
 * tare (ERROR_UNSUPPORTED), or cannot be read. */
bool schema_version(sqlite3 *db, const char *path, int *version, struct error *err);

/* Brings it up to a version (SCHEMA_VERSION; a test asks for older ones), in one transaction; waits for others
 * that do the same. */
bool schema_migrate(sqlite3 *db, const char *path, int to, struct error *err);

/* What SQLite says went wrong, as an error: "cannot VERB 'PATH': disk full". Returns false. */
bool schema_error(sqlite3 *db, const char *verb, const char *path, struct error *err);

#endif

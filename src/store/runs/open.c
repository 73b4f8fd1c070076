/* Where the store is, and opening it. See runs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "store/runs/schema.h"
#include "store/runs/store.h"

enum {
	BUSY_MS = 20000, /* other writers take about a millisecond each */
	/* The next process to open the store reads the log through, which takes about 1 ms for 1000 pages; a
	 * checkpoint waits for the disk twice. */
	CHECKPOINT_PAGES = 250,
};

static const char *set_variable(const char *name)
{
	const char *value = secure_getenv(name);
	return value && *value ? value : NULL;
}

char *runs_path(const char *given, struct error *err)
{
	const char *data = set_variable("XDG_DATA_HOME"), *home = set_variable("HOME");
	struct str path = {0};
	if (!given)
		given = set_variable("TARE_STORE");
	if (given && strcmp(given, "none") == 0) {
		if (err)
			*err = (struct error){.code = ERROR_NOT_FOUND};
		return NULL;
	}
	if (given)
		str_append(&path, given);
	else if (data && *data == '/') /* the XDG Base Directory Specification: relative ones are to be ignored */
		str_appendf(&path, "%s/tare/tare.db", data);
	else if (home && *home == '/')
		str_appendf(&path, "%s/.local/share/tare/tare.db", home);
	else {
		error_set(err, ERROR_NOT_FOUND, "there is no place for a store of runs: HOME is not set");
		error_hint(err, "--store FILE or TARE_STORE names a file, --no-store keeps nothing");
		return NULL;
	}
	if (path.failed)
		error_no_memory(err);
	return str_take(&path);
}

/* Makes the folders above path, as far as they are not there. */
static bool make_folders(const char *path, struct error *err)
{
	char *copy = strdup(path);
	if (!copy)
		return error_no_memory(err);
	bool done = true;
	for (char *slash = copy; done && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		/* of one that is there but may not be written above, the answer may be EROFS or EACCES */
		if (mkdir(copy, 0700) != 0 && errno != EEXIST && access(copy, F_OK) != 0)
			done = error_set_errno(err,
					       errno == EACCES || errno == EROFS ? ERROR_PERMISSION : ERROR_IO,
					       errno, "cannot make the folder '%s'", copy);
		*slash = '/';
	}
	free(copy);
	return done;
}

/* SQLite would make it readable for others; its log and index get the database's mode. */
static bool make_file(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	else if (errno == ENOENT && make_folders(path, err))
		return make_file(path, err);
	else if (errno != EEXIST)
		return error_set_errno(err, errno == EACCES || errno == EROFS ? ERROR_PERMISSION : ERROR_IO, errno,
				       "cannot make '%s'", path);
	return true;
}

static bool open_database(struct runs *runs, int flags, struct error *err)
{
	if (sqlite3_open_v2(runs->path, &runs->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) !=
	    SQLITE_OK)
		return store_fail(runs, "open", err);
	sqlite3 *db = runs->db;
	/* a file may have been made to harm its reader: SQLite's advice, sqlite.org/security.html */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 30);
	/* the last one to close would write the log back, and wait for the disk */
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_wal_autocheckpoint(db, CHECKPOINT_PAGES);
	/* NORMAL: a commit does not wait for the disk. After a power failure the last runs may be missing, and the
	 * database is whole */
	return store_execute(runs, "PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL", err);
}

/* A new database: the log is chosen once, and stays. */
static bool make_tables(struct runs *runs, struct error *err)
{
	if (runs->version == 0 && !store_execute(runs, "PRAGMA journal_mode = WAL", err))
		return false;
	if (!schema_migrate(runs->db, runs->path, SCHEMA_VERSION, err))
		return false;
	runs->version = SCHEMA_VERSION;
	return true;
}

bool runs_open(const char *path, enum runs_access access, struct runs **out, struct error *err)
{
	struct stat status;
	*out = NULL;
	if (access == RUNS_READ && stat(path, &status) != 0)
		return error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
				       "cannot open the store '%s'", path);
	if (access == RUNS_WRITE && !make_file(path, err))
		return false;
	struct runs *runs = calloc(1, sizeof *runs);
	if (!runs || !(runs->path = strdup(path))) {
		free(runs);
		return error_no_memory(err);
	}
	runs->access = access;
	if (open_database(runs, SQLITE_OPEN_READWRITE, err) &&
	    schema_version(runs->db, path, &runs->version, err) &&
	    (runs->version == SCHEMA_VERSION || make_tables(runs, err))) {
		*out = runs;
		return true;
	}
	runs_close(runs);
	return false;
}

void runs_close(struct runs *runs)
{
	if (!runs)
		return;
	sqlite3_close(runs->db);
	free(runs->path);
	free(runs);
}

/* ---- statements ---- */

bool store_fail(struct runs *runs, const char *verb, struct error *err)
{
	return schema_error(runs->db, verb, runs->path, err);
}

sqlite3_stmt *store_prepare(struct runs *runs, const char *verb, const char *sql, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	if (!sql || sqlite3_prepare_v2(runs->db, sql, -1, &statement, NULL) != SQLITE_OK) {
		store_fail(runs, verb, err);
		return NULL;
	}
	return statement;
}

bool store_execute(struct runs *runs, const char *sql, struct error *err)
{
	return sqlite3_exec(runs->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_fail(runs, "write", err);
}

bool store_step(struct runs *runs, sqlite3_stmt *statement, struct error *err)
{
	int code = sqlite3_step(statement);
	bool done = code == SQLITE_DONE || code == SQLITE_ROW || store_fail(runs, "write", err);
	sqlite3_reset(statement);
	return done;
}

bool store_begin(struct runs *runs, struct error *err) { return store_execute(runs, "BEGIN IMMEDIATE", err); }

bool store_end(struct runs *runs, bool done, struct error *err)
{
	if (done && store_execute(runs, "COMMIT", err))
		return true;
	sqlite3_exec(runs->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

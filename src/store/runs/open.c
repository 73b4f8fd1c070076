/* Where the store is, and opening it. See runs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "store/runs/schema.h"
#include "store/runs/store.h"

enum {
	BUSY_MS = 10000, /* other writers take about a millisecond each */
	/* The first process to open the store reads the log through, which takes about 1 ms for 1000 pages; to
	 * write it back waits for the disk twice. A run takes 3 to 10 pages. */
	LOG_MOST_PAGES = 200,
	WRITE_BACK_MS = 50, /* for others to be done with the log; else the next one writes it back */
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
	else if (home && *home == '/' && access(home, F_OK) != 0) { /* nobody's home is tare's to make */
		error_set_errno(err, ERROR_NOT_FOUND, errno, "there is no place for a store of runs: HOME, '%s'",
				home);
		error_hint(err, "--store FILE or TARE_STORE names a file, --no-store keeps nothing");
		return NULL;
	} else if (home && *home == '/')
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

/* SQLite would make it readable for others; its log and index get the database's mode. */
static int create(const char *path) { return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }

static bool make_file(const char *path, struct error *err)
{
	int fd = create(path);
	if (fd < 0 && errno == ENOENT && file_make_folders(path, 0700, err))
		fd = create(path); /* behind a dangling link, and in /proc, it cannot be made all the same */
	if (fd >= 0)
		close(fd);
	else if (errno != EEXIST)
		return error_set_errno(err, errno == EACCES || errno == EROFS ? ERROR_PERMISSION : ERROR_IO, errno,
				       "cannot make '%s'", path);
	return true;
}

static int see_log(void *context, sqlite3 *db, const char *name, int pages)
{
	(void)db, (void)name;
	((struct runs *)context)->log_pages = pages;
	return SQLITE_OK;
}

static bool open_database(struct runs *runs, const char *name, int flags, struct error *err)
{
	if (sqlite3_open_v2(name, &runs->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) !=
	    SQLITE_OK)
		return store_fail(runs, "open", err);
	sqlite3 *db = runs->db;
	/* a file may have been made to harm its reader: SQLite's advice, sqlite.org/security.html */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 30);
	/* Not by the last one to close, which would wait for the disk each time; and not by SQLite's own rule,
	 * after which the next process goes on at the log's end: runs_close() does it */
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_wal_hook(db, see_log, runs);
	/* NORMAL: a commit does not wait for the disk. After a power failure the last runs may be missing, and the
	 * database is whole */
	return store_execute(runs, "PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL", err);
}

/* The log's index is memory that processes share, which those of several machines cannot
 * (sqlite.org/wal.html). There each commit waits for the disk, under the file system's locks. */
static bool is_of_network(const char *path)
{
	static const unsigned long types[] = {
		0x6969 /* NFS */,       0x517b /* SMB */,          0xff534d42 /* CIFS */,
		0xfe534d42 /* SMB 2 */, 0x0bd00bd0 /* Lustre */,   0x47504653 /* GPFS */,
		0x5346414f /* AFS */,   0x00c36400 /* Ceph */,     0x19830326 /* BeeGFS */,
		0x01021997 /* 9P */,    0x20030528 /* OrangeFS */, 0x65735546 /* FUSE: sshfs, GlusterFS */,
		0xaad7aaea /* PanFS */,
	};
	struct statfs status;
	if (statfs(path, &status) != 0)
		return false;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (((unsigned long)status.f_type & 0xffffffff) == types[i])
			return true;
	return false;
}

/* The choice needs the database for itself. Where two processes want that at the same time, SQLite lets one of
 * them fail at once, whatever its time-out. */
static bool choose_log(struct runs *runs, struct error *err)
{
	const struct clock clock = clock_monotonic();
	const uint64_t end_ns = clock_now_ns(&clock) + (uint64_t)BUSY_MS * 1000000;
	while (sqlite3_exec(runs->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) != SQLITE_OK) {
		if ((sqlite3_errcode(runs->db) & 0xff) != SQLITE_BUSY || clock_now_ns(&clock) >= end_ns)
			return store_fail(runs, "write", err);
		sqlite3_sleep(1);
	}
	return true;
}

/* A new database: the log is chosen once, and stays. */
static bool make_tables(struct runs *runs, bool log, struct error *err)
{
	if (runs->version == 0 && log && !choose_log(runs, err))
		return false;
	if (!schema_migrate(runs->db, runs->path, SCHEMA_VERSION, err))
		return false;
	runs->version = SCHEMA_VERSION;
	return true;
}

/* What may not be written, and is of an older version: read as a copy in memory, which is migrated. */
static bool take_copy(struct runs *runs, struct error *err)
{
	sqlite3 *file = runs->db;
	runs->db = NULL;
	bool done = open_database(runs, ":memory:", SQLITE_OPEN_READWRITE, err);
	sqlite3_backup *backup = done ? sqlite3_backup_init(runs->db, "main", file, "main") : NULL;
	if (backup) {
		sqlite3_backup_step(backup, -1);
		done = sqlite3_backup_finish(backup) == SQLITE_OK || store_fail(runs, "read", err);
	} else if (done)
		done = store_fail(runs, "read", err);
	sqlite3_close(file);
	return done && make_tables(runs, false, err);
}

/* "file:PATH?immutable=1": nothing is written beside it either; for files that nobody is writing. */
static char *immutable_name(const char *path)
{
	struct str name = {0};
	str_append(&name, "file:");
	for (; *path; path++) {
		if (strchr("%?#", *path) || (unsigned char)*path < ' ')
			str_appendf(&name, "%%%02X", (unsigned char)*path);
		else
			str_append_char(&name, *path);
	}
	str_append(&name, "?immutable=1");
	return str_take(&name);
}

static bool has_log(const char *path)
{
	struct stat status;
	char *log = NULL;
	bool has = asprintf(&log, "%s-wal", path) < 0 || (stat(log, &status) == 0 && status.st_size > 0);
	free(log);
	return has;
}

static bool open_immutable(struct runs *runs, struct error *err)
{
	char *name = immutable_name(runs->path);
	bool done = name ? open_database(runs, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err) &&
				    schema_version(runs->db, runs->path, &runs->version, err)
			 : error_no_memory(err);
	free(name);
	return done;
}

static bool open_to_read(struct runs *runs, struct error *err)
{
	if (open_database(runs, runs->path, SQLITE_OPEN_READWRITE, err) &&
	    schema_version(runs->db, runs->path, &runs->version, err))
		return true;
	/* in a folder where the log's index cannot be made */
	bool closed = err && (err->code == ERROR_PERMISSION || err->code == ERROR_IO) && !has_log(runs->path);
	if (!closed)
		return false;
	sqlite3_close(runs->db);
	runs->db = NULL;
	return open_immutable(runs, err);
}

/* SQLite waits for ever for the other end of a FIFO. */
static bool may_be_store(const char *path, struct error *err)
{
	struct stat status;
	return stat(path, &status) != 0 || S_ISREG(status.st_mode) ||
	       error_set(err, ERROR_IO, "cannot open '%s': it is not a regular file", path);
}

static struct runs *new_store(const char *path, enum runs_access access, struct error *err)
{
	/* what SQLite takes for a database in memory, or for a URI, is a file's name here */
	bool special = *path == ':' || strncmp(path, "file:", 5) == 0;
	if (!may_be_store(path, err))
		return NULL;
	struct runs *runs = calloc(1, sizeof *runs);
	if (runs && asprintf(&runs->path, "%s%s", special ? "./" : "", path) >= 0) {
		runs->access = access;
		return runs;
	}
	free(runs);
	error_no_memory(err);
	return NULL;
}

static bool hand_out(struct runs *runs, bool done, struct runs **out, struct error *err)
{
	if (done && runs->version == 0)
		done = error_set(err, ERROR_NOT_FOUND, "there is no run in '%s'", runs->path);
	else if (done && runs->version < SCHEMA_VERSION)
		done = take_copy(runs, err);
	if (done)
		*out = runs;
	else
		runs_close(runs);
	return done;
}

bool runs_open(const char *path, enum runs_access access, struct runs **out, struct error *err)
{
	struct stat status;
	struct error own = {0};
	*out = NULL;
	err = err ? err : &own;
	if (access == RUNS_READ && stat(path, &status) != 0) {
		error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
				"cannot open the store of runs '%s'", path);
		return error_hint(err, "'tare count' and 'tare profile' make one");
	}
	if (access == RUNS_WRITE && !make_file(path, err))
		return false;
	struct runs *runs = new_store(path, access, err);
	if (!runs)
		return false;
	bool done = access == RUNS_READ ? open_to_read(runs, err)
					: open_database(runs, runs->path, SQLITE_OPEN_READWRITE, err) &&
						  schema_version(runs->db, path, &runs->version, err);
	bool may_write = done && !sqlite3_db_readonly(runs->db, "main");
	if (done && may_write && runs->version < SCHEMA_VERSION && (runs->version || access == RUNS_WRITE))
		done = make_tables(runs, !is_of_network(path), err);
	if (done && access == RUNS_WRITE && !may_write)
		done = error_set(err, ERROR_PERMISSION, "cannot write '%s': it is read-only", path);
	return hand_out(runs, done, out, err);
}

bool store_open_file(const char *path, struct runs **out, struct error *err)
{
	*out = NULL;
	if (!make_file(path, err))
		return false;
	struct runs *runs = new_store(path, RUNS_WRITE, err);
	return runs && hand_out(runs,
				open_database(runs, runs->path, SQLITE_OPEN_READWRITE, err) &&
					make_tables(runs, false, err),
				out, err);
}

bool store_open_foreign(const char *path, struct runs **out, struct error *err)
{
	*out = NULL;
	if (access(path, R_OK) != 0)
		return error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
				       "cannot read '%s'", path);
	struct runs *runs = new_store(path, RUNS_READ, err);
	if (!runs)
		return false;
	/* with a log beside it, it is a store that is in use */
	bool done = has_log(path) ? open_database(runs, runs->path, SQLITE_OPEN_READONLY, err) &&
					    schema_version(runs->db, path, &runs->version, err)
				  : open_immutable(runs, err);
	return hand_out(runs, done, out, err);
}

void runs_close(struct runs *runs)
{
	if (!runs)
		return;
	if (runs->log_pages > LOG_MOST_PAGES) {
		sqlite3_busy_timeout(runs->db, WRITE_BACK_MS);
		sqlite3_wal_checkpoint_v2(runs->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	}
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

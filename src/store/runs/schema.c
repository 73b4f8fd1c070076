/*
 * What always holds:
 *  1. steps[v] makes version v + 1 of version v. A step that was released is never changed; a new version is a new
 *     step.
 *  2. Columns are added, never given another meaning: a tare that knows an older version and has the store open
 *     goes on, and what it does not know stays at its default.
 */
#include "store/runs/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const steps[SCHEMA_VERSION] = {
	/* 1 */
	"CREATE TABLE machines ("
	" id INTEGER PRIMARY KEY,"
	" cpu TEXT, kernel TEXT, hostname TEXT, architecture TEXT, cpus INTEGER, pmu TEXT, hypervisor TEXT,"
	" cpu_features TEXT, microcode TEXT);"
	"CREATE TABLE runs ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT," /* never given again, also after the newest was pruned */
	" uuid BLOB NOT NULL,"
	" machine INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL,"
	" name TEXT, kind INTEGER NOT NULL, shown INTEGER NOT NULL, comparison TEXT,"
	" tare_version TEXT NOT NULL, directory TEXT, environment BLOB, git_commit TEXT, calibration TEXT,"
	" command BLOB, target TEXT, started_unix INTEGER, repetitions INTEGER, repetitions_done INTEGER,"
	" executions INTEGER, warm_ups INTEGER, passes INTEGER, elapsed_seconds REAL, confidence REAL,"
	" wait_status INTEGER, interrupted INTEGER, under_engine INTEGER, first_run INTEGER);"
	"CREATE UNIQUE INDEX runs_by_uuid ON runs (uuid);"
	"CREATE UNIQUE INDEX runs_by_name ON runs (name) WHERE name IS NOT NULL;"
	"CREATE TABLE estimates ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" event TEXT, unit TEXT, level TEXT, known INTEGER, value REAL, low REAL, high REAL, has_interval INTEGER,"
	" confidence REAL, runs BLOB, run_min REAL, run_median REAL, run_max REAL, run_sd REAL, source INTEGER,"
	" trust INTEGER, machine TEXT, evidence TEXT, has_tare INTEGER, gross REAL, tare REAL, bound REAL,"
	" measuring_state INTEGER, measuring_count REAL, measuring_half_width REAL, measuring_inside REAL,"
	" share_running REAL, why TEXT, has_least INTEGER, least REAL, least_source INTEGER, note TEXT,"
	" tid INTEGER, pid INTEGER, command TEXT, cpu INTEGER,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE outliers ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" repetition INTEGER, event TEXT, cause TEXT,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE notes ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" rank INTEGER, text TEXT,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;",
	/* 2: regions, breakdowns, profiles, files of runs */
	"ALTER TABLE runs ADD COLUMN top INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN breakdown_by INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN breakdown_run INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN breakdown_runs INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE regions ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" name TEXT, text TEXT, kind INTEGER, entries INTEGER, exits INTEGER, unbalanced INTEGER, threads INTEGER,"
	" why TEXT, least INTEGER, note TEXT,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE breakdown_events ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" label TEXT, unit TEXT, machine TEXT, total INTEGER, sum INTEGER, why TEXT, defect TEXT,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE breakdown_rows ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" name TEXT, module TEXT, file TEXT, line INTEGER, kind TEXT, blocks INTEGER, bytes INTEGER, counts BLOB,"
	" n_frames INTEGER,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE breakdown_frames (" /* part: the row's position */
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" function TEXT, module TEXT, file TEXT, line INTEGER,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE profiles (run INTEGER PRIMARY KEY, file BLOB);",
	/* 3: what comparisons found */
	"ALTER TABLE runs ADD COLUMN side_name TEXT;"
	"ALTER TABLE runs ADD COLUMN side_at INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN side_of INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN side_seed INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN side_repetitions INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN side_tests INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN side_interrupted INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN side_misleading INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX runs_by_comparison ON runs (comparison) WHERE comparison IS NOT NULL;"
	"CREATE TABLE compared (" /* run: of the command that is compared with the baseline */
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" event TEXT, verdict INTEGER, why TEXT, has_numbers INTEGER, has_interval INTEGER, has_relative INTEGER,"
	" difference REAL, low REAL, high REAL, relative REAL, relative_low REAL, relative_high REAL,"
	" p_value REAL, p_adjusted REAL, effect REAL, superiority REAL, detectable REAL, floor REAL,"
	" misleading INTEGER,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;"
	"CREATE TABLE gates ("
	" run INTEGER NOT NULL, part INTEGER NOT NULL, position INTEGER NOT NULL,"
	" text TEXT, command INTEGER, outcome INTEGER, reason TEXT,"
	" PRIMARY KEY (run, part, position)) WITHOUT ROWID;",
	/* 4: what tare verify found out about the counters */
	"CREATE TABLE verifications ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" machine INTEGER NOT NULL,"
	" tare_version TEXT NOT NULL, grid TEXT, backends TEXT, started_unix INTEGER, seconds REAL, finished "
	"INTEGER);"
	"CREATE TABLE verdicts ("
	" verification INTEGER NOT NULL, position INTEGER NOT NULL,"
	" event TEXT, interface TEXT, source INTEGER, machine TEXT, kind TEXT, shape TEXT, text TEXT,"
	" factor REAL, offset REAL, half_width REAL, usable_from REAL, error REAL, least REAL, most REAL,"
	" witnesses INTEGER, kernels INTEGER, points INTEGER, executions INTEGER, fault INTEGER,"
	" PRIMARY KEY (verification, position)) WITHOUT ROWID;"
	"CREATE TABLE verification_points ("
	" verification INTEGER NOT NULL, position INTEGER NOT NULL,"
	" kernel TEXT, size INTEGER, event TEXT, interface TEXT, source INTEGER, machine TEXT,"
	" predicted REAL, witnesses INTEGER, observed BLOB, interrupts BLOB,"
	" PRIMARY KEY (verification, position)) WITHOUT ROWID;",
	/* 5: inclusive counts of breakdowns */
	("ALTER TABLE runs ADD COLUMN breakdown_inclusive INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE breakdown_rows ADD COLUMN inclusive BLOB;"),
	/* 6: the CPU time of the executions that a verification observed */
	"ALTER TABLE verification_points ADD COLUMN cpu_seconds BLOB;",
	/* 7: comparisons with runs that were kept before; what was drawn anew for each execution; what a program
	 * was given, and what its counts depend on */
	("ALTER TABLE runs ADD COLUMN side_apart INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE runs ADD COLUMN side_layout TEXT;"
	 "ALTER TABLE runs ADD COLUMN given TEXT;"
	 "ALTER TABLE runs ADD COLUMN conditions TEXT;"),
	/* 8: executions that gave a verification no count, and why */
	("ALTER TABLE verdicts ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE verdicts ADD COLUMN refused_of INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE verdicts ADD COLUMN refused_why TEXT;"
	 "ALTER TABLE verification_points ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE verification_points ADD COLUMN refused_why TEXT;"),
};

bool schema_error(sqlite3 *db, const char *verb, const char *path, struct error *err)
{
	int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM, os = db ? sqlite3_system_errno(db) : 0;
	switch (code & 0xff) {
	case SQLITE_NOMEM: return error_no_memory(err);
	case SQLITE_FULL: return error_set(err, ERROR_IO, "cannot %s '%s': the disk is full", verb, path);
	case SQLITE_BUSY:
		return error_set(err, ERROR_BUSY, "cannot %s '%s': another process holds it", verb, path);
	case SQLITE_READONLY:
		return error_set(err, ERROR_PERMISSION, "cannot %s '%s': it is read-only", verb, path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		error_set(err, ERROR_SYNTAX, "'%s' is damaged, or is not a store of runs", path);
		return error_hint(err, "move it away, and tare makes a new one; --store FILE uses another");
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		if (os == ENOSPC || os == EDQUOT)
			return error_set(err, ERROR_IO, "cannot %s '%s': the disk is full", verb, path);
		if (os)
			return error_set_errno(
				err, os == EACCES || os == EPERM || os == EROFS ? ERROR_PERMISSION : ERROR_IO, os,
				"cannot %s '%s'", verb, path);
	}
	return error_set(err, ERROR_IO, "cannot %s '%s': %s", verb, path, sqlite3_errmsg(db));
}

static bool pragma(sqlite3 *db, const char *name, int *value)
{
	sqlite3_stmt *s = NULL;
	char sql[64];
	snprintf(sql, sizeof sql, "PRAGMA %s", name);
	bool done = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
	if (done)
		*value = sqlite3_column_int(s, 0);
	return sqlite3_finalize(s) == SQLITE_OK && done;
}

/* All three as they are at one time, while another process makes the store. */
static bool read_marks(sqlite3 *db, int *application, int *version, int *tables)
{
	bool done = sqlite3_exec(db, "SAVEPOINT marks", NULL, NULL, NULL) == SQLITE_OK &&
		    pragma(db, "application_id", application) && pragma(db, "user_version", version) &&
		    pragma(db, "schema_version", tables);
	return done && sqlite3_exec(db, "RELEASE marks", NULL, NULL, NULL) == SQLITE_OK;
}

bool schema_version(sqlite3 *db, const char *path, int *version, struct error *err)
{
	int application, tables;
	if (!read_marks(db, &application, version, &tables)) {
		schema_error(db, "read", path, err);
		sqlite3_exec(db, "ROLLBACK TO marks; RELEASE marks", NULL, NULL, NULL);
		return false;
	}
	/* a file without tables: a store that is being made */
	if (application == 0 && *version == 0 && tables == 0)
		return true;
	if (application != SCHEMA_APPLICATION_ID || *version <= 0)
		return error_set(err, ERROR_SYNTAX, "'%s' is a database, but not a store of tare's runs", path);
	if (*version > SCHEMA_VERSION) {
		error_set(err, ERROR_UNSUPPORTED,
			  "'%s' is a store of a newer tare (version %d of the tables; this tare knows %d)", path,
			  *version, SCHEMA_VERSION);
		return error_hint(err, "use that tare, or another store: --store FILE");
	}
	return true;
}

bool schema_migrate(sqlite3 *db, const char *path, int to, struct error *err)
{
	int version;
	char sql[128];
	if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return schema_error(db, "write", path, err);
	/* another process may have done it meanwhile */
	if (!schema_version(db, path, &version, err))
		goto fail;
	for (; version < to; version++)
		if (sqlite3_exec(db, steps[version], NULL, NULL, NULL) != SQLITE_OK) {
			schema_error(db, "write", path, err);
			goto fail;
		}
	snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		 SCHEMA_APPLICATION_ID, version);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return true;
	schema_error(db, "write", path, err);
fail:
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

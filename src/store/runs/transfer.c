/* Runs from one store to another: a file of runs is also a store. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "store/runs/store.h"

/* ---- export ---- */

static bool copy_run(struct runs *from, int64_t id, struct runs *to, bool keep_name, struct error *err)
{
	struct kept_run run;
	if (!runs_load(from, id, &run, err))
		return false;
	if (!keep_name)
		run.name = NULL;
	bool done = store_put(to, &run, err);
	kept_run_free(&run);
	return done;
}

bool runs_export(struct runs *runs, const int64_t *ids, size_t n, const char *path, struct error *err)
{
	struct runs *to;
	if (access(path, F_OK) == 0) {
		error_set(err, ERROR_USAGE, "'%s' is there already", path);
		return error_hint(err, "give the name of a new file");
	}
	if (!store_open_file(path, &to, err))
		return false;
	bool done = store_begin(to, err);
	if (done) {
		for (size_t i = 0; i < n && done; i++)
			done = copy_run(runs, ids[i], to, true, err);
		done = store_end(to, done, err);
	}
	runs_close(to);
	if (!done)
		unlink(path);
	return done;
}

/* ---- import ---- */

static bool is_known(struct runs *runs, const void *uuid, int bytes, bool *known, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "read", "SELECT 1 FROM runs WHERE uuid = ?", err);
	if (!s)
		return false;
	sqlite3_bind_blob(s, 1, uuid, bytes, SQLITE_STATIC);
	int code = sqlite3_step(s);
	*known = code == SQLITE_ROW;
	sqlite3_finalize(s);
	return code == SQLITE_ROW || code == SQLITE_DONE || store_fail(runs, "read", err);
}

static bool import_one(struct runs *from, int64_t id, struct runs *to, struct import_counts *counts,
		       struct error *err)
{
	struct kept_run run;
	int64_t holder = 0;
	if (!runs_load(from, id, &run, err))
		return false;
	bool done = !run.name || (store_name_is_valid(run.name, err) && store_named(to, run.name, &holder, err));
	if (holder) {
		run.name = NULL;
		counts->names_lost++;
	}
	run.imported = true;
	done = done && store_put(to, &run, err);
	kept_run_free(&run);
	return done;
}

static bool import_all(struct runs *from, struct runs *to, struct import_counts *counts, struct error *err)
{
	sqlite3_stmt *s = store_prepare(from, "read", "SELECT id, uuid FROM runs ORDER BY id", err);
	bool done = s != NULL;
	int code = SQLITE_DONE;
	while (done && (code = sqlite3_step(s)) == SQLITE_ROW) {
		bool known = false;
		done = is_known(to, sqlite3_column_blob(s, 1), sqlite3_column_bytes(s, 1), &known, err);
		if (!done)
			break;
		if (known)
			counts->known++;
		else if ((done = import_one(from, sqlite3_column_int64(s, 0), to, counts, err)))
			counts->added++;
	}
	if (done && code != SQLITE_DONE)
		done = store_fail(from, "read", err);
	sqlite3_finalize(s);
	return done;
}

bool runs_import(struct runs *runs, const char *path, struct import_counts *counts, struct error *err)
{
	struct runs *from;
	*counts = (struct import_counts){0};
	if (!store_open_foreign(path, &from, err)) {
		/* what is said of tare's own store is to move it away */
		if (err && err->code == ERROR_SYNTAX)
			error_hint(err, "'tare export -o FILE' makes files to be imported");
		return false;
	}
	bool done = store_begin(runs, err);
	if (done)
		done = store_end(runs, import_all(from, runs, counts, err), err);
	runs_close(from);
	return done;
}

/* A run out of the store, and finding it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "store/runs/store.h"

const char *kept_kind_name(enum kept_kind kind)
{
	static const char *const names[] = {"count", "profile", "compare"};
	return names[kind];
}

void kept_run_free(struct kept_run *run)
{
	result_free(run->result);
	arena_free(&run->arena);
	*run = (struct kept_run){0};
}

/* Rows of one part of a table, as an array in the arena. */
static bool load_rows(struct runs *runs, const char *table, struct record_fields fields, int64_t run, size_t part,
		      size_t record_bytes, struct arena *arena, void *records, size_t *n, struct error *err)
{
	struct str sql = {0};
	void *items = NULL;
	size_t capacity = 0;
	int code = SQLITE_DONE;
	bool done = true;
	*n = 0;
	str_append(&sql, "SELECT ");
	fields_names(&sql, fields.fields, fields.n);
	str_appendf(&sql, " FROM %s WHERE run = ? AND part = ? ORDER BY position", table);
	sqlite3_stmt *s = sql.failed ? NULL : store_prepare(runs, "read", sql.text, err);
	if (sql.failed)
		error_no_memory(err);
	str_free(&sql);
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, run);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)part);
	while (done && (code = sqlite3_step(s)) == SQLITE_ROW) {
		if (!vec_grow(&items, &capacity, *n, record_bytes)) {
			done = error_no_memory(err);
			break;
		}
		char *record = (char *)items + *n * record_bytes;
		memset(record, 0, record_bytes);
		done = fields_read(s, 0, fields.fields, fields.n, record, arena, err);
		++*n;
	}
	if (done && code != SQLITE_DONE)
		done = store_fail(runs, "read", err);
	sqlite3_finalize(s);
	if (done && *n) {
		void *kept = arena_alloc(arena, *n * record_bytes);
		if (kept)
			memcpy(*(void **)records = kept, items, *n * record_bytes);
		else
			done = error_no_memory(err);
	}
	free(items);
	return done;
}

/* The columns of a run's row, before those of its fields. */
enum { COLUMN_UUID, COLUMN_FEATURES, COLUMN_MICROCODE, COLUMNS_BEFORE };

static bool load_row(struct runs *runs, int64_t id, struct kept_run *run, struct error *err)
{
	struct str sql = {0};
	struct result *r = run->result;
	bool done = false;
	str_append(&sql, "SELECT uuid, cpu_features, microcode, ");
	fields_names(&sql, kept_run_fields.fields, kept_run_fields.n);
	str_append(&sql, ", ");
	fields_names(&sql, result_fields.fields, result_fields.n);
	str_append(&sql, ", ");
	fields_names(&sql, machine_fields.fields, machine_fields.n);
	str_append(&sql, " FROM runs LEFT JOIN machines ON machines.id = runs.machine WHERE runs.id = ?");
	sqlite3_stmt *s = sql.failed ? NULL : store_prepare(runs, "read", sql.text, err);
	if (sql.failed)
		error_no_memory(err);
	str_free(&sql);
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, id);
	int code = sqlite3_step(s), at = COLUMNS_BEFORE;
	if (code == SQLITE_DONE) {
		error_set(err, ERROR_NOT_FOUND, "there is no run %lld", (long long)id);
		error_hint(err, "'tare list runs' shows what there is");
		goto out;
	}
	if (code != SQLITE_ROW) {
		store_fail(runs, "read", err);
		goto out;
	}
	run->id = id;
	const unsigned char *uuid = sqlite3_column_blob(s, COLUMN_UUID);
	if (!uuid || sqlite3_column_bytes(s, COLUMN_UUID) != 16) {
		error_set(err, ERROR_SYNTAX, "damaged: run %lld has no identity", (long long)id);
		goto out;
	}
	for (int i = 0; i < 16; i++)
		snprintf(run->uuid + 2 * i, 3, "%02x", uuid[i]);
	const char *features = (const char *)sqlite3_column_text(s, COLUMN_FEATURES),
		   *microcode = (const char *)sqlite3_column_text(s, COLUMN_MICROCODE);
	run->cpu_features = features ? arena_strdup(&run->arena, features) : NULL;
	run->microcode = microcode ? arena_strdup(&run->arena, microcode) : NULL;
	done = fields_read(s, at, kept_run_fields.fields, kept_run_fields.n, run, &run->arena, err) &&
	       fields_read(s, at += (int)kept_run_fields.n, result_fields.fields, result_fields.n, r, &r->arena,
			   err) &&
	       fields_read(s, at + (int)result_fields.n, machine_fields.fields, machine_fields.n, &r->machine,
			   &r->arena, err);
out:
	sqlite3_finalize(s);
	return done;
}

static bool load_all(struct runs *runs, int64_t id, struct kept_run *run, struct error *err)
{
	struct result *r = run->result;
	return load_row(runs, id, run, err) &&
	       load_rows(runs, "estimates", estimate_fields, id, 0, sizeof *r->estimates, &r->arena, &r->estimates,
			 &r->n_estimates, err) &&
	       load_rows(runs, "estimates", estimate_fields, id, 1, sizeof *r->metrics, &r->arena, &r->metrics,
			 &r->n_metrics, err) &&
	       load_rows(runs, "outliers", outlier_fields, id, 0, sizeof *r->outliers, &r->arena, &r->outliers,
			 &r->n_outliers, err) &&
	       load_rows(runs, "notes", note_fields, id, 0, sizeof *r->notes, &r->arena, (void *)&r->notes,
			 &r->n_notes, err);
}

bool runs_load(struct runs *runs, int64_t id, struct kept_run *run, struct error *err)
{
	*run = (struct kept_run){0};
	if (!(run->result = result_new()))
		return error_no_memory(err);
	/* one state of the store for all of the statements */
	bool done = store_execute(runs, "BEGIN", err) && load_all(runs, id, run, err);
	sqlite3_exec(runs->db, "ROLLBACK", NULL, NULL, NULL);
	if (!done)
		kept_run_free(run);
	return done;
}

bool runs_find(struct runs *runs, const char *word, int64_t *id, struct error *err)
{
	const char *name = word + (*word == '@');
	unsigned long long number;
	bool last = strcmp(name, "last") == 0, by_id = str_to_u64(name, &number) && number <= INT64_MAX;
	sqlite3_stmt *s = store_prepare(runs, "read",
					last    ? "SELECT max(id) FROM runs"
					: by_id ? "SELECT id FROM runs WHERE id = ?"
						: "SELECT id FROM runs WHERE name = ?",
					err);
	if (!s)
		return false;
	if (by_id)
		sqlite3_bind_int64(s, 1, (sqlite3_int64)number);
	else if (!last)
		sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	int code = sqlite3_step(s);
	bool found = code == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER;
	if (found)
		*id = sqlite3_column_int64(s, 0);
	else if (code != SQLITE_ROW && code != SQLITE_DONE)
		store_fail(runs, "read", err);
	else if (last)
		error_set(err, ERROR_NOT_FOUND, "there is no run yet in '%s'", runs->path);
	else
		error_set(err, ERROR_NOT_FOUND, by_id ? "there is no run %s" : "no run is called '%s'", name);
	if (!found && !last && err && err->code == ERROR_NOT_FOUND)
		error_hint(err, "'tare list runs' shows what there is");
	sqlite3_finalize(s);
	return found;
}

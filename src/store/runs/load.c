/* A run out of the store, and finding it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "store/runs/packed.h"
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

static bool load_row(struct runs *runs, int64_t id, struct kept_run *run, struct breakdown_head *head,
		     struct kept_side *side, struct error *err)
{
	struct str sql = {0};
	struct result *r = run->result;
	bool done = false;
	str_append(&sql, "SELECT uuid, cpu_features, microcode, ");
	fields_names(&sql, kept_run_fields.fields, kept_run_fields.n);
	str_append(&sql, ", ");
	fields_names(&sql, result_fields.fields, result_fields.n);
	str_append(&sql, ", ");
	fields_names(&sql, breakdown_head_fields.fields, breakdown_head_fields.n);
	str_append(&sql, ", ");
	fields_names(&sql, side_fields.fields, side_fields.n);
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
	       fields_read(s, at += (int)result_fields.n, breakdown_head_fields.fields, breakdown_head_fields.n,
			   head, &r->arena, err) &&
	       fields_read(s, at += (int)breakdown_head_fields.n, side_fields.fields, side_fields.n, side,
			   &run->arena, err) &&
	       fields_read(s, at + (int)side_fields.n, machine_fields.fields, machine_fields.n, &r->machine,
			   &r->arena, err);
out:
	sqlite3_finalize(s);
	return done;
}

static bool load_regions(struct runs *runs, int64_t id, struct result *r, struct error *err)
{
	bool done = load_rows(runs, "regions", region_fields, id, 0, sizeof *r->regions, &r->arena, &r->regions,
			      &r->n_regions, err);
	for (size_t i = 0; i < r->n_regions && done; i++)
		done = load_rows(runs, "estimates", estimate_fields, id, PART_FIRST_REGION + i,
				 sizeof *r->regions[i].estimates, &r->arena, &r->regions[i].estimates,
				 &r->regions[i].n_estimates, err);
	return done;
}

static bool load_breakdown_rows(struct runs *runs, int64_t id, struct breakdown *b, struct error *err)
{
	struct kept_breakdown_row *rows = NULL;
	if (!load_rows(runs, "breakdown_rows", breakdown_row_fields, id, 0, sizeof *rows, &b->arena, &rows,
		       &b->n_rows, err))
		return false;
	b->rows = arena_alloc(&b->arena, (b->n_rows + 1) * sizeof *b->rows);
	if (!b->rows)
		return error_no_memory(err);
	for (size_t i = 0; i < b->n_rows; i++) {
		struct breakdown_row *row = &b->rows[i];
		*row = rows[i].row;
		row->inclusive = rows[i].n_inclusive ? row->inclusive : NULL;
		size_t n_frames = row->n_frames;
		if (rows[i].n_counts != b->n_events || (rows[i].n_inclusive && rows[i].n_inclusive != b->n_events))
			return error_set(err, ERROR_SYNTAX,
					 "damaged: a row of a breakdown has not one count for each event");
		if (n_frames &&
		    !load_rows(runs, "breakdown_frames", breakdown_frame_fields, id, i, sizeof *row->frames,
			       &b->arena, (void *)&row->frames, &row->n_frames, err))
			return false;
		if (row->n_frames != n_frames)
			return error_set(err, ERROR_SYNTAX, "damaged: frames of a breakdown are missing");
	}
	return true;
}

static bool load_breakdown(struct runs *runs, int64_t id, const struct breakdown_head *head, struct result *r,
			   struct error *err)
{
	struct result_note *notes = NULL;
	size_t n_notes;
	if (head->by == BREAKDOWN_NONE)
		return true;
	struct breakdown *b = r->breakdown = calloc(1, sizeof *b);
	if (!b)
		return error_no_memory(err);
	b->by = head->by;
	b->run = head->run;
	b->runs = head->runs;
	b->inclusive = head->inclusive;
	if (!load_rows(runs, "breakdown_events", breakdown_event_fields, id, 0, sizeof *b->events, &b->arena,
		       &b->events, &b->n_events, err) ||
	    !load_breakdown_rows(runs, id, b, err) ||
	    !load_rows(runs, "notes", note_fields, id, PART_BREAKDOWN, sizeof *notes, &b->arena, &notes, &n_notes,
		       err))
		return false;
	if (!(b->notes = arena_alloc(&b->arena, (n_notes + 1) * sizeof *b->notes)))
		return error_no_memory(err);
	for (; b->n_notes < n_notes; b->n_notes++)
		b->notes[b->n_notes] = notes[b->n_notes].text;
	return true;
}

static bool load_side(struct runs *runs, struct kept_run *run, const struct kept_side *head, struct error *err)
{
	if (!head->name)
		return true;
	struct kept_side *side = run->side = arena_alloc(&run->arena, sizeof *side);
	if (!side)
		return error_no_memory(err);
	*side = *head;
	return load_rows(runs, "compared", compared_fields, run->id, 0, sizeof *side->rows, &run->arena,
			 &side->rows, &side->n_rows, err) &&
	       load_rows(runs, "gates", gate_fields, run->id, 0, sizeof *side->gates, &run->arena, &side->gates,
			 &side->n_gates, err) &&
	       load_rows(runs, "notes", note_fields, run->id, PART_COMPARISON, sizeof *side->notes, &run->arena,
			 (void *)&side->notes, &side->n_notes, err);
}

static bool load_profile(struct runs *runs, struct kept_run *run, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "read", "SELECT file FROM profiles WHERE run = ?", err);
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, run->id);
	int code = sqlite3_step(s);
	bool done = code == SQLITE_ROW || code == SQLITE_DONE || store_fail(runs, "read", err);
	if (code == SQLITE_ROW) {
		const void *bytes = sqlite3_column_blob(s, 0);
		size_t n = (size_t)sqlite3_column_bytes(s, 0);
		done = packed_open(bytes, n, &run->arena, &run->profile, &run->profile_bytes, err);
	}
	sqlite3_finalize(s);
	return done;
}

static bool load_all(struct runs *runs, int64_t id, struct kept_run *run, struct error *err)
{
	struct result *r = run->result;
	struct breakdown_head head = {0};
	struct kept_side side = {0};
	return load_row(runs, id, run, &head, &side, err) &&
	       load_rows(runs, "estimates", estimate_fields, id, PART_RESULT, sizeof *r->estimates, &r->arena,
			 &r->estimates, &r->n_estimates, err) &&
	       load_rows(runs, "estimates", estimate_fields, id, PART_METRICS, sizeof *r->metrics, &r->arena,
			 &r->metrics, &r->n_metrics, err) &&
	       load_rows(runs, "outliers", outlier_fields, id, PART_RESULT, sizeof *r->outliers, &r->arena,
			 &r->outliers, &r->n_outliers, err) &&
	       load_rows(runs, "notes", note_fields, id, PART_RESULT, sizeof *r->notes, &r->arena,
			 (void *)&r->notes, &r->n_notes, err) &&
	       load_regions(runs, id, r, err) && load_breakdown(runs, id, &head, r, err) &&
	       load_side(runs, run, &side, err) && load_profile(runs, run, err);
}

bool runs_load(struct runs *runs, int64_t id, struct kept_run *run, struct error *err)
{
	*run = (struct kept_run){0};
	if (!(run->result = result_new()))
		return error_no_memory(err);
	/* one state of the store for all of the statements */
	bool apart = sqlite3_get_autocommit(runs->db),
	     done = (!apart || store_execute(runs, "BEGIN", err)) && load_all(runs, id, run, err);
	if (apart)
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
					last    ? "SELECT id FROM runs WHERE imported = 0 ORDER BY id DESC LIMIT 1"
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
		error_set(err, ERROR_NOT_FOUND, "no run was kept yet in '%s'", runs->path);
	else
		error_set(err, ERROR_NOT_FOUND, by_id ? "there is no run %s" : "no run is called '%s'", name);
	if (!found && !last && err && err->code == ERROR_NOT_FOUND)
		error_hint(err, "'tare list runs' shows what there is");
	sqlite3_finalize(s);
	return found;
}

bool runs_of_comparison(struct runs *runs, const char *comparison, int64_t *ids, size_t most, size_t *n,
			struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "read",
					"SELECT id FROM runs WHERE comparison = ? "
					"ORDER BY side_at, id LIMIT ?",
					err);
	int code = SQLITE_DONE;
	*n = 0;
	if (!s)
		return false;
	sqlite3_bind_text(s, 1, comparison, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)most);
	while (*n < most && (code = sqlite3_step(s)) == SQLITE_ROW)
		ids[(*n)++] = sqlite3_column_int64(s, 0);
	bool done = code == SQLITE_ROW || code == SQLITE_DONE || store_fail(runs, "read", err);
	sqlite3_finalize(s);
	return done;
}

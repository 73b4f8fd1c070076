/* A run into the store: its row, and rows of what belongs to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "store/runs/packed.h"
#include "store/runs/store.h"

/* Rows of one table: of an array of records. */
static bool put_rows(struct runs *runs, const char *table, struct record_fields fields, int64_t run, size_t part,
		     const void *records, size_t n, size_t record_bytes, uint64_t *bytes, struct error *err)
{
	struct str sql = {0};
	bool done = true;
	if (n == 0)
		return true;
	str_appendf(&sql, "INSERT INTO %s (run, part, position, ", table);
	fields_names(&sql, fields.fields, fields.n);
	str_append(&sql, ") VALUES (?, ?, ?");
	for (size_t i = 0; i < fields.n; i++)
		str_append(&sql, ", ?");
	str_append(&sql, ")");
	sqlite3_stmt *s = sql.failed ? NULL : store_prepare(runs, "write", sql.text, err);
	if (sql.failed)
		error_no_memory(err);
	for (size_t i = 0; s && i < n && done; i++) {
		sqlite3_bind_int64(s, 1, run);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)part);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)i);
		if (fields_bind(s, 4, fields.fields, fields.n, (const char *)records + i * record_bytes, bytes) !=
		    SQLITE_OK)
			done = store_fail(runs, "write", err);
		else
			done = store_step(runs, s, err);
	}
	done = s && done;
	sqlite3_finalize(s);
	str_free(&sql);
	return done;
}

/* The id of this machine, as it is now; a new one where it is not there. */
bool store_put_machine(struct runs *runs, const struct kept_run *run, int64_t *id, struct error *err)
{
	struct str where = {0}, names = {0};
	uint64_t bytes = 0;
	int n = (int)machine_fields.n;
	fields_names(&names, machine_fields.fields, machine_fields.n);
	for (int i = 0; i < n; i++)
		str_appendf(&where, "%s IS ?%d AND ", machine_fields.fields[i].column, i + 1);
	str_appendf(&where, "cpu_features IS ?%d AND microcode IS ?%d", n + 1, n + 2);
	struct str sql[2] = {0};
	str_appendf(&sql[0], "SELECT id FROM machines WHERE %s", where.text ? where.text : "");
	str_appendf(&sql[1], "INSERT INTO machines (%s, cpu_features, microcode) VALUES (",
		    names.text ? names.text : "");
	for (int i = 0; i < n + 2; i++)
		str_appendf(&sql[1], "%s?%d", i ? ", " : "", i + 1);
	str_append(&sql[1], ")");
	bool done = !where.failed && !names.failed && !sql[0].failed && !sql[1].failed, found = false;
	if (!done)
		error_no_memory(err);
	for (int k = 0; k < 2 && done && !found; k++) {
		sqlite3_stmt *s = store_prepare(runs, "write", sql[k].text, err);
		if (!(done = s != NULL))
			break;
		fields_bind(s, 1, machine_fields.fields, machine_fields.n, &run->result->machine, &bytes);
		sqlite3_bind_text(s, n + 1, run->cpu_features, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, n + 2, run->microcode, -1, SQLITE_STATIC);
		int code = sqlite3_step(s);
		if ((found = code == SQLITE_ROW))
			*id = sqlite3_column_int64(s, 0);
		else if (code != SQLITE_DONE)
			done = store_fail(runs, "write", err);
		else if (k == 1)
			*id = sqlite3_last_insert_rowid(runs->db);
		sqlite3_finalize(s);
	}
	str_free(&where);
	str_free(&names);
	str_free(&sql[0]);
	str_free(&sql[1]);
	return done;
}

/* A random one (RFC 9562, version 4, without its dashes). */
static bool make_uuid(char text[33], struct error *err)
{
	unsigned char bytes[16];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return error_set(err, ERROR_SYSTEM, "no random numbers for the run's identity");
	bytes[6] = (unsigned char)(0x40 | (bytes[6] & 0x0f));
	bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3f));
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

static void bytes_of_uuid(const char text[33], unsigned char bytes[16])
{
	for (int i = 0; i < 16; i++) {
		unsigned byte = 0;
		sscanf(text + 2 * i, "%2x", &byte);
		bytes[i] = (unsigned char)byte;
	}
}

/* A run's row is of several records. */
struct part_of_row {
	const struct record_fields *fields;
	const void *record;
};

static bool bind_row(sqlite3_stmt *s, const struct part_of_row *parts, size_t n_parts, uint64_t *bytes)
{
	int at = 3;
	for (size_t i = 0; i < n_parts; i++) {
		if (fields_bind(s, at, parts[i].fields->fields, parts[i].fields->n, parts[i].record, bytes) !=
		    SQLITE_OK)
			return false;
		at += (int)parts[i].fields->n;
	}
	return true;
}

static bool put_row(struct runs *runs, struct kept_run *run, uint64_t *bytes, struct error *err)
{
	const struct breakdown *b = run->result->breakdown;
	struct breakdown_head head = {b ? b->by : BREAKDOWN_NONE, b ? b->run : 0, b ? b->runs : 0,
				      b && b->inclusive};
	const struct kept_side none = {0};
	const struct part_of_row parts[] = {{&kept_run_fields, run},
					    {&result_fields, run->result},
					    {&breakdown_head_fields, &head},
					    {&side_fields, run->side ? run->side : &none}};
	const size_t n_parts = sizeof parts / sizeof *parts;
	struct str sql = {0}, values = {0};
	unsigned char uuid[16];
	int64_t machine = 0;
	bool done = false;
	if (!store_put_machine(runs, run, &machine, err))
		return false;
	str_append(&sql, "INSERT INTO runs (uuid, machine, ");
	for (size_t i = 0; i < n_parts; i++) {
		fields_names(&sql, parts[i].fields->fields, parts[i].fields->n);
		str_append(&sql, ", ");
		for (size_t k = 0; k < parts[i].fields->n; k++)
			str_append(&values, "?, ");
	}
	str_appendf(&sql, "bytes) VALUES (?, ?, %s0)", values.text ? values.text : "");
	sqlite3_stmt *s = sql.failed || values.failed ? NULL : store_prepare(runs, "write", sql.text, err);
	if (sql.failed || values.failed)
		error_no_memory(err);
	if (!s)
		goto out;
	bytes_of_uuid(run->uuid, uuid);
	sqlite3_bind_blob(s, 1, uuid, sizeof uuid, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, machine);
	if (!bind_row(s, parts, n_parts, bytes))
		store_fail(runs, "write", err);
	else if ((done = store_step(runs, s, err)))
		run->id = sqlite3_last_insert_rowid(runs->db);
out:
	sqlite3_finalize(s);
	str_free(&sql);
	str_free(&values);
	return done;
}

static bool put_regions(struct runs *runs, const struct kept_run *run, uint64_t *bytes, struct error *err)
{
	const struct result *r = run->result;
	bool done = put_rows(runs, "regions", region_fields, run->id, 0, r->regions, r->n_regions,
			     sizeof *r->regions, bytes, err);
	for (size_t i = 0; i < r->n_regions && done; i++)
		done = put_rows(runs, "estimates", estimate_fields, run->id, PART_FIRST_REGION + i,
				r->regions[i].estimates, r->regions[i].n_estimates,
				sizeof *r->regions[i].estimates, bytes, err);
	return done;
}

static bool put_breakdown(struct runs *runs, const struct kept_run *run, uint64_t *bytes, struct error *err)
{
	const struct breakdown *b = run->result->breakdown;
	if (!b)
		return true;
	struct result_note *notes = calloc(b->n_notes + 1, sizeof *notes);
	struct kept_breakdown_row *rows = calloc(b->n_rows + 1, sizeof *rows);
	bool done = (notes && rows) || error_no_memory(err);
	for (size_t i = 0; i < b->n_notes && done; i++)
		notes[i] = (struct result_note){b->notes[i], NOTE_READ};
	for (size_t i = 0; i < b->n_rows && done; i++)
		rows[i] = (struct kept_breakdown_row){b->rows[i], b->n_events,
						      b->rows[i].inclusive ? b->n_events : 0};
	done = done &&
	       put_rows(runs, "breakdown_events", breakdown_event_fields, run->id, 0, b->events, b->n_events,
			sizeof *b->events, bytes, err) &&
	       put_rows(runs, "breakdown_rows", breakdown_row_fields, run->id, 0, rows, b->n_rows, sizeof *rows,
			bytes, err) &&
	       put_rows(runs, "notes", note_fields, run->id, PART_BREAKDOWN, notes, b->n_notes, sizeof *notes,
			bytes, err);
	for (size_t i = 0; i < b->n_rows && done; i++)
		done = put_rows(runs, "breakdown_frames", breakdown_frame_fields, run->id, i, b->rows[i].frames,
				b->rows[i].n_frames, sizeof *b->rows[i].frames, bytes, err);
	free(notes);
	free(rows);
	return done;
}

static bool put_side(struct runs *runs, const struct kept_run *run, uint64_t *bytes, struct error *err)
{
	const struct kept_side *side = run->side;
	return !side || (put_rows(runs, "compared", compared_fields, run->id, 0, side->rows, side->n_rows,
				  sizeof *side->rows, bytes, err) &&
			 put_rows(runs, "gates", gate_fields, run->id, 0, side->gates, side->n_gates,
				  sizeof *side->gates, bytes, err) &&
			 put_rows(runs, "notes", note_fields, run->id, PART_COMPARISON, side->notes, side->n_notes,
				  sizeof *side->notes, bytes, err));
}

static bool put_profile(struct runs *runs, const struct kept_run *run, uint64_t *bytes, struct error *err)
{
	void *packed;
	size_t packed_bytes;
	if (!run->profile)
		return true;
	if (!packed_make(run->profile, run->profile_bytes, &packed, &packed_bytes, err))
		return false;
	sqlite3_stmt *s = store_prepare(runs, "write", "INSERT INTO profiles (run, file) VALUES (?, ?)", err);
	if (!s) {
		free(packed);
		return false;
	}
	sqlite3_bind_int64(s, 1, run->id);
	bool done = sqlite3_bind_blob64(s, 2, packed, packed_bytes, SQLITE_STATIC) == SQLITE_OK
			    ? store_step(runs, s, err)
			    : store_fail(runs, "write", err);
	*bytes += packed_bytes;
	sqlite3_finalize(s);
	free(packed);
	return done;
}

static bool put_bytes(struct runs *runs, int64_t run, uint64_t bytes, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "write", "UPDATE runs SET bytes = ? WHERE id = ?", err);
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, (sqlite3_int64)bytes);
	sqlite3_bind_int64(s, 2, run);
	bool done = store_step(runs, s, err);
	sqlite3_finalize(s);
	return done;
}

bool store_put(struct runs *runs, struct kept_run *run, struct error *err)
{
	const struct result *r = run->result;
	uint64_t bytes = 0;
	return (run->uuid[0] || make_uuid(run->uuid, err)) && put_row(runs, run, &bytes, err) &&
	       put_rows(runs, "estimates", estimate_fields, run->id, PART_RESULT, r->estimates, r->n_estimates,
			sizeof *r->estimates, &bytes, err) &&
	       put_rows(runs, "estimates", estimate_fields, run->id, PART_METRICS, r->metrics, r->n_metrics,
			sizeof *r->metrics, &bytes, err) &&
	       put_rows(runs, "outliers", outlier_fields, run->id, PART_RESULT, r->outliers, r->n_outliers,
			sizeof *r->outliers, &bytes, err) &&
	       put_rows(runs, "notes", note_fields, run->id, PART_RESULT, r->notes, r->n_notes, sizeof *r->notes,
			&bytes, err) &&
	       put_regions(runs, run, &bytes, err) && put_breakdown(runs, run, &bytes, err) &&
	       put_side(runs, run, &bytes, err) && put_profile(runs, run, &bytes, err) &&
	       put_bytes(runs, run->id, bytes, err);
}

bool runs_put(struct runs *runs, struct kept_run *run, struct error *err)
{
	if (!store_begin(runs, err))
		return false;
	bool done = store_end(runs, store_put(runs, run, err), err);
	if (!done)
		run->id = 0;
	return done;
}

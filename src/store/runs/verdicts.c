#include "store/runs/verdicts.h"

#include <stdio.h>
#include <string.h>

#include "store/runs/store.h"

#define MEMBER(name, kind, ...)                                                                                   \
	{                                                                                                         \
		.column = #name, .type = FIELD_##kind, .offset = offsetof(RECORD, name), __VA_ARGS__              \
	}

#define RECORD struct kept_verdict
static const struct field verdict_fields[] = {
	MEMBER(event, WORD, .most = 1),
	MEMBER(interface, WORD, .most = 1),
	MEMBER(source, INT, .most = SOURCE_SAMPLED),
	MEMBER(machine, WORD),
	MEMBER(kind, WORD, .most = 1),
	MEMBER(shape, WORD, .most = 1),
	MEMBER(text, TEXT, .most = 1),
	MEMBER(factor, REAL),
	MEMBER(offset, REAL),
	MEMBER(half_width, REAL),
	MEMBER(usable_from, REAL),
	MEMBER(error, REAL),
	MEMBER(least, REAL),
	MEMBER(most, REAL),
	MEMBER(witnesses, INT, .most = WITNESS_ARITHMETIC | WITNESS_ENGINE),
	MEMBER(kernels, SIZE),
	MEMBER(points, SIZE),
	MEMBER(executions, SIZE),
	MEMBER(fault, BOOL),
	MEMBER(refused, SIZE),
	MEMBER(refused_of, SIZE),
	MEMBER(refused_why, TEXT),
};
#undef RECORD
enum { VERDICT_FIELDS = sizeof verdict_fields / sizeof *verdict_fields };

#define RECORD struct kept_point
static const struct field point_fields[] = {
	MEMBER(kernel, WORD, .most = 1),
	MEMBER(size, U64),
	MEMBER(event, WORD, .most = 1),
	MEMBER(interface, WORD, .most = 1),
	MEMBER(source, INT, .most = SOURCE_SAMPLED),
	MEMBER(machine, WORD),
	MEMBER(predicted, REAL),
	MEMBER(witnesses, INT, .most = WITNESS_ARITHMETIC | WITNESS_ENGINE),
	MEMBER(observed, REALS, .count_offset = offsetof(struct kept_point, n_observed)),
	MEMBER(interrupts, REALS, .count_offset = offsetof(struct kept_point, n_interrupts)),
	MEMBER(cpu_seconds, REALS, .count_offset = offsetof(struct kept_point, n_cpu_seconds)),
	MEMBER(refused, SIZE),
	MEMBER(refused_why, TEXT),
};
#undef RECORD
enum { POINT_FIELDS = sizeof point_fields / sizeof *point_fields };

/* Of one machine under one kernel, microcode and tare: ?1 … ?6 by bind_key(). */
#define SAME_HARDWARE "m.hostname IS ?1 AND m.architecture IS ?2"
#define SAME_STATE "m.cpu IS ?3 AND m.kernel IS ?4 AND m.microcode IS ?5 AND v.tare_version IS ?6"

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/* The grid and what was selected of it, in one column: "full", "quick; kernels loop". */
static void bind_grid(sqlite3_stmt *s, int at, const struct verification *v)
{
	struct str grid = {0};
	bool selected = v->selection && v->selection[0];
	str_appendf(&grid, "%s%s%s", v->grid, selected ? "; " : "", selected ? v->selection : "");
	sqlite3_bind_text(s, at, grid.failed ? v->grid : grid.text, -1, SQLITE_TRANSIENT);
	str_free(&grid);
}

static void bind_key(sqlite3_stmt *s, const struct verification *v)
{
	const char *const key[] = {v->facts.hostname, v->facts.architecture, v->facts.cpu,
				   v->facts.kernel,   v->microcode,          v->tare_version};
	for (int i = 0; i < 6; i++)
		bind_text(s, i + 1, key[i]);
}

/* Rows of one table, each with its verification and position. */
static bool put_rows(struct runs *runs, const char *table, const struct field *fields, size_t n_fields,
		     int64_t verification, const void *records, size_t from, size_t n, size_t record_bytes,
		     struct error *err)
{
	struct str sql = {0};
	uint64_t bytes = 0;
	bool done = true;
	str_appendf(&sql, "INSERT INTO %s (verification, position, ", table);
	fields_names(&sql, fields, n_fields);
	str_append(&sql, ") VALUES (?, ?");
	for (size_t i = 0; i < n_fields; i++)
		str_append(&sql, ", ?");
	str_append(&sql, ")");
	sqlite3_stmt *s = sql.failed ? NULL : store_prepare(runs, "write", sql.text, err);
	if (sql.failed)
		error_no_memory(err);
	for (size_t i = from; s && i < n && done; i++) {
		sqlite3_bind_int64(s, 1, verification);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)i);
		done = fields_bind(s, 3, fields, n_fields, (const char *)records + i * record_bytes, &bytes) ==
				       SQLITE_OK
			       ? store_step(runs, s, err)
			       : store_fail(runs, "write", err);
	}
	done = s && done;
	sqlite3_finalize(s);
	str_free(&sql);
	return done;
}

static bool put_head(struct runs *runs, struct verification *v, struct error *err)
{
	struct kept_run around = {.microcode = v->microcode};
	struct result facts = {.machine = v->facts};
	int64_t machine;
	around.result = &facts;
	if (!store_put_machine(runs, &around, &machine, err))
		return false;
	sqlite3_stmt *s = store_prepare(runs, "write",
					"INSERT INTO verifications (machine, tare_version, grid, backends, "
					"started_unix, seconds, finished) VALUES (?, ?, ?, ?, ?, 0, 0)",
					err);
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, machine);
	bind_text(s, 2, v->tare_version);
	bind_grid(s, 3, v);
	bind_text(s, 4, v->on);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)v->started_unix);
	bool done = store_step(runs, s, err);
	if (done)
		v->id = sqlite3_last_insert_rowid(runs->db);
	sqlite3_finalize(s);
	return done;
}

bool runs_begin_verification(struct runs *runs, struct verification *v, struct error *err)
{
	if (!store_begin(runs, err))
		return false;
	bool done = store_end(runs, put_head(runs, v, err), err);
	if (!done)
		v->id = 0;
	return done;
}

static bool put_seconds(struct runs *runs, const struct verification *v, bool finished, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "write",
					"UPDATE verifications SET seconds = ?, finished = ? WHERE id = ?", err);
	if (!s)
		return false;
	sqlite3_bind_double(s, 1, v->seconds);
	sqlite3_bind_int(s, 2, finished);
	sqlite3_bind_int64(s, 3, v->id);
	bool done = store_step(runs, s, err);
	sqlite3_finalize(s);
	return done;
}

bool runs_put_points(struct runs *runs, const struct verification *v, size_t from, struct error *err)
{
	return store_begin(runs, err) &&
	       store_end(runs,
			 put_rows(runs, "verification_points", point_fields, POINT_FIELDS, v->id, v->points.items,
				  from, v->points.count, sizeof *v->points.items, err) &&
				 put_seconds(runs, v, false, err),
			 err);
}

/* The points of earlier ones have had their use; their verdicts stay. */
static bool remove_points_before(struct runs *runs, int64_t id, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "write", "DELETE FROM verification_points WHERE verification < ?",
					err);
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, id);
	bool done = store_step(runs, s, err);
	sqlite3_finalize(s);
	return done;
}

bool runs_end_verification(struct runs *runs, struct verification *v, struct error *err)
{
	if (!store_begin(runs, err))
		return false;
	bool done = store_end(runs,
			      put_rows(runs, "verdicts", verdict_fields, VERDICT_FIELDS, v->id, v->verdicts.items,
				       0, v->verdicts.count, sizeof *v->verdicts.items, err) &&
				      put_seconds(runs, v, true, err) && remove_points_before(runs, v->id, err),
			      err);
	for (size_t i = 0; done && i < v->verdicts.count; i++)
		v->verdicts.items[i].evidence = v->id;
	return done;
}

static bool load_points(struct runs *runs, struct verification *v, struct error *err)
{
	struct str sql = {0};
	str_append(&sql, "SELECT ");
	fields_names(&sql, point_fields, POINT_FIELDS);
	str_append(&sql, " FROM verification_points WHERE verification = ? ORDER BY position");
	sqlite3_stmt *s = sql.failed ? NULL : store_prepare(runs, "read", sql.text, err);
	bool done = s != NULL, more = done;
	if (sql.failed)
		error_no_memory(err);
	if (s)
		sqlite3_bind_int64(s, 1, v->id);
	while (done && more) {
		struct kept_point point = {0};
		int code = sqlite3_step(s);
		more = code == SQLITE_ROW;
		if (!more && code != SQLITE_DONE)
			done = store_fail(runs, "read", err);
		else if (more)
			done = fields_read(s, 0, point_fields, POINT_FIELDS, &point, &v->arena, err) &&
			       (vec_push(&v->points, point) || error_no_memory(err));
	}
	sqlite3_finalize(s);
	str_free(&sql);
	return done;
}

bool runs_resume_verification(struct runs *runs, struct verification *v, struct error *err)
{
	sqlite3_stmt *s = store_prepare(
		runs, "read",
		"SELECT v.id, v.seconds, v.finished FROM verifications v JOIN machines m ON m.id = v.machine "
		"WHERE " SAME_HARDWARE " AND " SAME_STATE " AND v.grid IS ?7 AND v.backends IS ?8 "
		"ORDER BY v.id DESC LIMIT 1",
		err);
	if (!s)
		return false;
	bind_key(s, v);
	bind_grid(s, 7, v);
	bind_text(s, 8, v->on);
	int code = sqlite3_step(s);
	bool found = code == SQLITE_ROW && !sqlite3_column_int(s, 2), done = true;
	if (found) {
		v->id = sqlite3_column_int64(s, 0);
		v->seconds = sqlite3_column_double(s, 1);
	} else if (code != SQLITE_ROW && code != SQLITE_DONE) {
		done = store_fail(runs, "read", err);
	}
	sqlite3_finalize(s);
	return done && (!found || load_points(runs, v, err));
}

/* ---- which hold ---- */

static bool is_of(const struct kept_verdict *a, const struct kept_verdict *b)
{
	return strcmp(a->event, b->event) == 0 && strcmp(a->interface, b->interface) == 0 &&
	       a->source == b->source &&
	       (a->machine == b->machine || (a->machine && b->machine && strcmp(a->machine, b->machine) == 0));
}

static bool load_verdicts(struct runs *runs, const struct verification *of, struct verdict_list *out,
			  struct error *err)
{
	struct str sql = {0};
	str_append(&sql, "SELECT v.id, ");
	for (size_t i = 0; i < VERDICT_FIELDS; i++)
		str_appendf(&sql, "%st.%s", i ? ", " : "", verdict_fields[i].column);
	str_append(&sql,
		   " FROM verdicts t JOIN verifications v ON v.id = t.verification JOIN machines m ON m.id = "
		   "v.machine WHERE " SAME_HARDWARE " AND " SAME_STATE
		   " AND v.finished ORDER BY v.id DESC, t.position");
	sqlite3_stmt *s = sql.failed ? NULL : store_prepare(runs, "read", sql.text, err);
	bool done = s != NULL, more = done;
	if (sql.failed)
		error_no_memory(err);
	if (s)
		bind_key(s, of);
	while (done && more) {
		struct kept_verdict row = {0};
		int code = sqlite3_step(s);
		bool known = false;
		more = code == SQLITE_ROW;
		if (!more && code != SQLITE_DONE)
			done = store_fail(runs, "read", err);
		if (!done || !more)
			break;
		done = fields_read(s, 1, verdict_fields, VERDICT_FIELDS, &row, &out->arena, err);
		row.evidence = sqlite3_column_int64(s, 0);
		for (size_t i = 0; done && i < out->rows.count; i++)
			known |= is_of(&out->rows.items[i], &row);
		if (done && !known)
			done = vec_push(&out->rows, row) || error_no_memory(err);
	}
	sqlite3_finalize(s);
	str_free(&sql);
	return done;
}

/* What differs from the newest verification of this machine. */
static bool find_stale(struct runs *runs, const struct verification *of, struct verdict_list *out,
		       struct error *err)
{
	static const char *const what[] = {"CPU", "kernel", "microcode", "tare"};
	const char *const now[] = {of->facts.cpu, of->facts.kernel, of->microcode, of->tare_version};
	sqlite3_stmt *s = store_prepare(runs, "read",
					"SELECT m.cpu, m.kernel, m.microcode, v.tare_version FROM verifications v "
					"JOIN machines m ON m.id = v.machine WHERE " SAME_HARDWARE
					" AND v.finished ORDER BY v.id DESC LIMIT 1",
					err);
	if (!s)
		return false;
	bind_text(s, 1, of->facts.hostname);
	bind_text(s, 2, of->facts.architecture);
	int code = sqlite3_step(s);
	bool done = code == SQLITE_ROW || code == SQLITE_DONE || store_fail(runs, "read", err);
	for (int i = 0; code == SQLITE_ROW && i < 4 && !out->stale; i++) {
		const char *then = (const char *)sqlite3_column_text(s, i);
		if (strcmp(then ? then : "", now[i] ? now[i] : "") == 0)
			continue;
		char shown[128];
		str_escape_to(shown, sizeof shown, then ? then : "not known");
		out->stale = arena_printf(&out->arena, "the %s was '%s'", what[i], shown);
	}
	sqlite3_finalize(s);
	return done;
}

bool runs_find_verdicts(struct runs *runs, const struct verification *of, struct verdict_list *out,
			struct error *err)
{
	*out = (struct verdict_list){0};
	if (load_verdicts(runs, of, out, err) && (out->rows.count || find_stale(runs, of, out, err)))
		return true;
	verdict_list_free(out);
	return false;
}

void verdict_list_free(struct verdict_list *list)
{
	vec_free(&list->rows);
	arena_free(&list->arena);
	*list = (struct verdict_list){0};
}

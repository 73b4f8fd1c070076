/* Runs as a list; their names; removing them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/runs/store.h"

void run_list_free(struct run_list *list)
{
	vec_free(&list->rows);
	arena_free(&list->arena);
	*list = (struct run_list){0};
}

/* ---- listing ---- */

static const struct field listed_fields[] = {
	{.column = "name", .type = FIELD_WORD, .offset = offsetof(struct listed_run, name)},
	{.column = "kind", .type = FIELD_INT, .offset = offsetof(struct listed_run, kind), .most = KEPT_COMPARE},
	{.column = "started_unix", .type = FIELD_U64, .offset = offsetof(struct listed_run, started_unix)},
	{.column = "elapsed_seconds", .type = FIELD_REAL, .offset = offsetof(struct listed_run, elapsed_seconds)},
	{.column = "repetitions", .type = FIELD_SIZE, .offset = offsetof(struct listed_run, repetitions)},
	{.column = "wait_status", .type = FIELD_INT, .offset = offsetof(struct listed_run, wait_status)},
	{.column = "interrupted", .type = FIELD_BOOL, .offset = offsetof(struct listed_run, interrupted)},
	{.column = "imported", .type = FIELD_BOOL, .offset = offsetof(struct listed_run, imported)},
	{.column = "tare_version",
	 .type = FIELD_WORD,
	 .offset = offsetof(struct listed_run, tare_version),
	 .most = 1},
	{.column = "hostname", .type = FIELD_TEXT, .offset = offsetof(struct listed_run, hostname)},
	{.column = "command", .type = FIELD_WORDS, .offset = offsetof(struct listed_run, command)},
	{.column = "target", .type = FIELD_TEXT, .offset = offsetof(struct listed_run, target)},
	{.column = "bytes", .type = FIELD_U64, .offset = offsetof(struct listed_run, bytes)},
};
enum { LISTED_FIELDS = sizeof listed_fields / sizeof *listed_fields };

static bool has_word(const struct listed_run *row, const char *word)
{
	if ((row->name && strstr(row->name, word)) || (row->target && strstr(row->target, word)))
		return true;
	for (const char *const *argument = row->command; argument && *argument; argument++)
		if (strstr(*argument, word))
			return true;
	return false;
}

static bool has_words(const struct listed_run *row, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!has_word(row, words[i]))
			return false;
	return true;
}

/* One number that a statement gives. */
static bool number_of(struct runs *runs, const char *sql, int64_t *number, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "read", sql, err);
	if (!s)
		return false;
	bool done = sqlite3_step(s) == SQLITE_ROW || store_fail(runs, "read", err);
	if (done)
		*number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return done;
}

static bool list(struct runs *runs, size_t most, const char *const *words, size_t n_words, struct run_list *out,
		 struct error *err)
{
	struct str sql = {0};
	int64_t n_all = 0;
	int code = SQLITE_DONE;
	bool done = number_of(runs, "SELECT count(*) FROM runs", &n_all, err);
	str_append(&sql, "SELECT runs.id, ");
	fields_names(&sql, listed_fields, LISTED_FIELDS);
	str_append(&sql, " FROM runs LEFT JOIN machines ON machines.id = runs.machine ORDER BY runs.id DESC");
	sqlite3_stmt *s = !done || sql.failed ? NULL : store_prepare(runs, "read", sql.text, err);
	if (done && sql.failed)
		error_no_memory(err);
	str_free(&sql);
	if (!s)
		return false;
	out->n_all = (size_t)n_all;
	while (done && (most == 0 || out->rows.count < most) && (code = sqlite3_step(s)) == SQLITE_ROW) {
		struct listed_run row = {.id = sqlite3_column_int64(s, 0)};
		done = fields_read(s, 1, listed_fields, LISTED_FIELDS, &row, &out->arena, err);
		if (done && has_words(&row, words, n_words))
			done = vec_push(&out->rows, row) || error_no_memory(err);
	}
	if (done && code != SQLITE_DONE && code != SQLITE_ROW)
		done = store_fail(runs, "read", err);
	sqlite3_finalize(s);
	return done;
}

bool runs_list(struct runs *runs, size_t most, const char *const *words, size_t n_words, struct run_list *out,
	       struct error *err)
{
	*out = (struct run_list){0};
	bool done = list(runs, most, words, n_words, out, err);
	if (!done)
		run_list_free(out);
	return done;
}

/* ---- regions ---- */

static const struct field region_columns[] = {
	{.column = "name", .type = FIELD_WORD, .offset = offsetof(struct listed_region, name), .most = 1},
	{.column = "text", .type = FIELD_TEXT, .offset = offsetof(struct listed_region, text), .most = 1},
	{.column = "kind",
	 .type = FIELD_INT,
	 .offset = offsetof(struct listed_region, kind),
	 .most = REGION_LIBRARY},
};
enum { REGION_COLUMNS = sizeof region_columns / sizeof *region_columns };

void region_list_free(struct region_list *list)
{
	vec_free(&list->rows);
	arena_free(&list->arena);
	*list = (struct region_list){0};
}

bool runs_regions(struct runs *runs, struct region_list *out, struct error *err)
{
	int code = SQLITE_DONE;
	bool done = true;
	*out = (struct region_list){0};
	sqlite3_stmt *s = store_prepare(runs, "read",
					"SELECT max(run), name, text, kind FROM regions"
					" WHERE name NOT LIKE '%" REGION_EXCLUSIVE "'"
					" GROUP BY name, text, kind ORDER BY max(run) DESC, min(position)",
					err);
	while (s && done && (code = sqlite3_step(s)) == SQLITE_ROW) {
		struct listed_region row = {.run = sqlite3_column_int64(s, 0)};
		done = fields_read(s, 1, region_columns, REGION_COLUMNS, &row, &out->arena, err) &&
		       (vec_push(&out->rows, row) || error_no_memory(err));
	}
	done = s && done && (code == SQLITE_DONE || store_fail(runs, "read", err));
	sqlite3_finalize(s);
	if (!done)
		region_list_free(out);
	return done;
}

/* ---- names ---- */

enum { NAME_MOST_BYTES = 100 };

bool store_name_is_valid(const char *name, struct error *err)
{
	unsigned long long number;
	const char *why = NULL;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '/')
			why = "a name has no spaces, '/' or control characters";
	if (!*name || strlen(name) > NAME_MOST_BYTES)
		why = "a name has 1 to 100 bytes";
	else if (*name == '@' || *name == '-')
		why = "a name does not begin with '@' or '-'";
	else if (strcmp(name, "last") == 0 || str_to_u64(name, &number) ||
		 strspn(name, "0123456789") == strlen(name))
		why = "numbers and 'last' say which run is meant already";
	return !why || error_set(err, ERROR_USAGE, "'%.200s' cannot be the name of a run: %s", name, why);
}

static bool set_name(struct runs *runs, int64_t id, const char *name, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "write", "UPDATE runs SET name = ? WHERE id = ?", err);
	if (!s)
		return false;
	sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, id);
	bool done = store_step(runs, s, err);
	sqlite3_finalize(s);
	return done;
}

bool store_named(struct runs *runs, const char *name, int64_t *id, struct error *err)
{
	sqlite3_stmt *s = store_prepare(runs, "read", "SELECT id FROM runs WHERE name = ?", err);
	if (!s)
		return false;
	sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	int code = sqlite3_step(s);
	*id = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	bool done = code == SQLITE_ROW || code == SQLITE_DONE || store_fail(runs, "read", err);
	sqlite3_finalize(s);
	return done;
}

bool runs_name(struct runs *runs, int64_t id, const char *name, int64_t *before, struct error *err)
{
	*before = 0;
	if ((name && !store_name_is_valid(name, err)) || !store_begin(runs, err))
		return false;
	bool done = !name || store_named(runs, name, before, err);
	if (*before == id)
		*before = 0;
	done = done && (!*before || set_name(runs, *before, NULL, err)) && set_name(runs, id, name, err);
	if (done && sqlite3_changes(runs->db) != 1)
		done = error_set(err, ERROR_NOT_FOUND, "there is no run %lld", (long long)id);
	return store_end(runs, done, err);
}

/* ---- removing ---- */

/* all: the newest first. What goes stands in gone likewise. */
static bool choose(const struct run_list *all, const struct runs_limits *limits, struct run_list *gone,
		   struct error *err)
{
	size_t runs = all->rows.count;
	uint64_t bytes = 0;
	bool *goes = calloc(runs + 1, sizeof *goes), done = goes != NULL;
	for (size_t i = 0; i < all->rows.count; i++)
		bytes += all->rows.items[i].bytes;
	/* twice from the oldest on: what is too old, then what is too much */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = all->rows.count; goes && i-- > 0;) {
			const struct listed_run *row = &all->rows.items[i];
			bool too_old = limits->before_unix && row->started_unix < limits->before_unix,
			     too_many = limits->most_runs && runs > limits->most_runs,
			     too_big = limits->most_bytes && bytes > limits->most_bytes;
			if (goes[i] || row->name || !(pass == 0 ? too_old : too_many || too_big))
				continue;
			goes[i] = true;
			runs--;
			bytes -= row->bytes;
		}
	}
	for (size_t i = 0; i < all->rows.count && done; i++)
		done = !goes[i] || vec_push(&gone->rows, all->rows.items[i]);
	free(goes);
	return done || error_no_memory(err);
}

static bool remove_runs(struct runs *runs, const struct run_list *gone, struct error *err)
{
	static const char *const tables[] = {
		"estimates",      "outliers",         "notes",    "regions", "breakdown_events",
		"breakdown_rows", "breakdown_frames", "compared", "gates",   "profiles"};
	char sql[128];
	sqlite3_stmt *s = store_prepare(runs, "write", "INSERT INTO temp.gone (id) VALUES (?)", err);
	bool done = s != NULL;
	for (size_t i = 0; i < gone->rows.count && done; i++) {
		sqlite3_bind_int64(s, 1, gone->rows.items[i].id);
		done = store_step(runs, s, err);
	}
	sqlite3_finalize(s);
	for (size_t i = 0; i < sizeof tables / sizeof *tables && done; i++) {
		snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run IN (SELECT id FROM temp.gone)", tables[i]);
		done = store_execute(runs, sql, err);
	}
	return done && store_execute(runs,
				     "DELETE FROM runs WHERE id IN (SELECT id FROM temp.gone);"
				     "DELETE FROM machines WHERE id NOT IN (SELECT machine FROM runs)",
				     err);
}

bool runs_prune(struct runs *runs, const struct runs_limits *limits, bool try_only, struct run_list *gone,
		struct error *err)
{
	struct run_list all = {0};
	*gone = (struct run_list){0};
	if (!try_only && (!store_execute(runs,
					 "PRAGMA temp_store = MEMORY; CREATE TEMP TABLE IF NOT EXISTS gone "
					 "(id INTEGER PRIMARY KEY); DELETE FROM temp.gone",
					 err) ||
			  !store_begin(runs, err)))
		return false;
	bool done = list(runs, 0, NULL, 0, &all, err) && choose(&all, limits, gone, err) &&
		    (try_only || gone->rows.count == 0 || remove_runs(runs, gone, err));
	if (!try_only)
		done = store_end(runs, done, err);
	/* the texts of what goes are those of all */
	gone->arena = all.arena;
	gone->n_all = all.n_all;
	vec_free(&all.rows);
	if (!done)
		run_list_free(gone);
	/* gives the room back to the disk; where there is none for the copy, later runs take it */
	else if (!try_only && gone->rows.count) {
		sqlite3_exec(runs->db, "VACUUM", NULL, NULL, NULL);
		sqlite3_wal_checkpoint_v2(runs->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	}
	return done;
}

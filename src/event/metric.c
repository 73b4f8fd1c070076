/* The rows of data/metrics/; their arithmetic is in formula.c. */
#include "event/metric.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "event/formula.h"
#include "event/rows.h"

extern const struct embedded_file metric_files[];

struct metric {
	const char *name, *definition, *unit, *formula_text, *caution;
	enum metric_better better;
	struct formula formula;
};

struct metric_table {
	struct arena arena;
	struct rows rows; /* struct metric */
};

static bool wrong(const char *source, unsigned line, struct error *err, const char *what, const char *subject)
{
	return error_set(err, ERROR_SYNTAX, "%s:%u: %s '%s'", source, line, what, subject);
}

static bool read_better(const char *text, enum metric_better *better)
{
	static const char *const words[] = {"neither", "higher", "lower"};
	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, words[i]) == 0) {
			*better = (enum metric_better)i;
			return true;
		}
	}
	return false;
}

static bool read_key(struct metric *row, const struct stanza_key *key, const char *source, struct error *err)
{
	if (!*key->value)
		return wrong(source, key->line, err, "no value for", key->key);
	if (strcmp(key->key, "papers") == 0)
		return true; /* where the metric comes from: for the reader of the file */
	if (strcmp(key->key, "better") == 0)
		return read_better(key->value, &row->better) ||
		       wrong(source, key->line, err, "not higher, lower or neither:", key->value);
	const char **text = strcmp(key->key, "definition") == 0 ? &row->definition
			    : strcmp(key->key, "unit") == 0     ? &row->unit
			    : strcmp(key->key, "formula") == 0  ? &row->formula_text
			    : strcmp(key->key, "caution") == 0  ? &row->caution
								: NULL;
	if (!text)
		return wrong(source, key->line, err, "unknown key", key->key);
	if (*text)
		return wrong(source, key->line, err, "given twice:", key->key);
	*text = key->value;
	return true;
}

static const void *read_row(struct arena *arena, const struct stanza *stanza, const char *source,
			    struct error *err)
{
	struct metric *row = arena_alloc(arena, sizeof *row);
	struct error why;
	if (!row) {
		error_no_memory(err);
		return NULL;
	}
	row->name = stanza->name;
	if (row->name[strcspn(row->name, ", \t=")]) {
		wrong(source, stanza->line, err, "not a name:", row->name);
		return NULL;
	}
	for (size_t i = 0; i < stanza->n_keys; i++)
		if (!read_key(row, &stanza->keys[i], source, err))
			return NULL;
	const char *missing = !row->definition     ? "definition"
			      : !row->unit         ? "unit"
			      : !row->formula_text ? "formula"
						   : NULL;
	if (missing) {
		error_set(err, ERROR_SYNTAX, "%s:%u: the metric '%s' has no %s", source, stanza->line, row->name,
			  missing);
		return NULL;
	}
	if (!formula_parse(row->formula_text, arena, &row->formula, &why)) {
		error_set(err, why.code, "%s:%u: the formula of '%s', %s", source, stanza->line, row->name,
			  why.text);
		return NULL;
	}
	return row;
}

bool metric_table_add(struct metric_table *table, const char *text, size_t length, const char *source,
		      struct error *err)
{
	return rows_add(&table->rows, read_row, &table->arena, text, length, source, err);
}

struct metric_table *metric_table_new(struct error *err)
{
	struct metric_table *table = calloc(1, sizeof *table);
	if (!table) {
		error_no_memory(err);
		return NULL;
	}
	if (rows_add_embedded(&table->rows, read_row, &table->arena, metric_files, err))
		return table;
	metric_table_free(table);
	return NULL;
}

void metric_table_free(struct metric_table *table)
{
	if (!table)
		return;
	rows_free(&table->rows);
	arena_free(&table->arena);
	free(table);
}

size_t metric_table_count(const struct metric_table *table) { return table->rows.all.count; }

const struct metric *metric_table_at(const struct metric_table *table, size_t index)
{
	return rows_at(&table->rows, index);
}

const struct metric *metric_find(const struct metric_table *table, const char *name, struct error *err)
{
	const struct metric *found = rows_find(&table->rows, name);
	if (found)
		return found;
	struct nearest near = {0};
	for (size_t i = 0; i < table->rows.all.count; i++)
		nearest_consider(&near, name, metric_table_at(table, i)->name);
	error_set(err, ERROR_USAGE, "unknown metric '%s'", name);
	if (near.names[2])
		error_hint(err, "the nearest names are '%s', '%s' and '%s'; 'tare list' shows all", near.names[0],
			   near.names[1], near.names[2]);
	return NULL;
}

const char *metric_name(const struct metric *m) { return m->name; }

const char *metric_definition(const struct metric *m) { return m->definition; }

const char *metric_unit(const struct metric *m) { return m->unit; }

const char *metric_formula(const struct metric *m) { return m->formula_text; }

enum metric_better metric_better(const struct metric *m) { return m->better; }
const char *metric_caution(const struct metric *m) { return m->caution; }

size_t metric_event_count(const struct metric *m) { return m->formula.n_inputs; }

const char *metric_event(const struct metric *m, size_t index)
{
	return index < m->formula.n_inputs ? m->formula.inputs[index] : NULL;
}

bool metric_evaluate(const struct metric *m, const struct metric_input *inputs, struct metric_input *out,
		     struct error *err)
{
	return formula_evaluate(&m->formula, inputs, out, err);
}

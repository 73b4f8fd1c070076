/* The rows of data/metrics/; their arithmetic is in formula.c. */
#include "event/metric.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/nearest.h"
#include "base/stanza.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/formula.h"

extern const struct embedded_file metric_files[];

enum metric_better { BETTER_NEITHER, BETTER_HIGHER, BETTER_LOWER };

struct metric {
	const char *name, *definition, *unit, *formula_text, *caution;
	enum metric_better better;
	struct formula formula;
};

struct metric_table {
	struct arena arena;
	VEC(const struct metric *) rows;
};

static bool wrong(const char *source, unsigned line, struct error *err, const char *what, const char *subject)
{
	return error_set(err, ERROR_SYNTAX, "%s:%u: %s '%s'", source, line, what, subject);
}

static bool read_better(const char *text, enum metric_better *better)
{
	static const char *const words[] = { "neither", "higher", "lower" };
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
			    : strcmp(key->key, "unit") == 0	? &row->unit
			    : strcmp(key->key, "formula") == 0	? &row->formula_text
			    : strcmp(key->key, "caution") == 0	? &row->caution
								: NULL;
	if (!text)
		return wrong(source, key->line, err, "unknown key", key->key);
	if (*text)
		return wrong(source, key->line, err, "given twice:", key->key);
	*text = key->value;
	return true;
}

static const struct metric *read_row(struct arena *arena, const struct stanza *stanza, const char *source,
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
	const char *missing = !row->definition	   ? "definition"
			      : !row->unit	   ? "unit"
			      : !row->formula_text ? "formula"
						   : NULL;
	if (missing) {
		error_set(err, ERROR_SYNTAX, "%s:%u: the metric '%s' has no %s", source, stanza->line, row->name, missing);
		return NULL;
	}
	if (!formula_parse(row->formula_text, arena, &row->formula, &why)) {
		error_set(err, why.code, "%s:%u: the formula of '%s', %s", source, stanza->line, row->name, why.text);
		return NULL;
	}
	return row;
}

static size_t place_of(const struct metric_table *table, const char *name)
{
	size_t i = 0;
	while (i < table->rows.count && strcmp(table->rows.items[i]->name, name) != 0)
		i++;
	return i;
}

bool metric_table_add(struct metric_table *table, const char *text, size_t length, const char *source,
		      struct error *err)
{
	VEC(const struct metric *) rows = { 0 };
	struct stanza *stanzas;
	size_t count;
	bool done = stanza_parse(text, length, source, &table->arena, &stanzas, &count, err);
	for (size_t i = 0; done && i < count; i++) {
		const struct metric *row = read_row(&table->arena, &stanzas[i], source, err);
		done = row && (vec_push(&rows, row) || error_no_memory(err));
	}
	/* room for all of them first: all are added or none */
	size_t before = table->rows.count;
	for (size_t i = 0; done && i < rows.count; i++)
		done = vec_push(&table->rows, rows.items[i]) || error_no_memory(err);
	table->rows.count = before;
	for (size_t i = 0; done && i < rows.count; i++) {
		size_t place = place_of(table, rows.items[i]->name);
		table->rows.items[place] = rows.items[i];
		table->rows.count += place == table->rows.count;
	}
	vec_free(&rows);
	return done;
}

struct metric_table *metric_table_new(struct error *err)
{
	struct metric_table *table = calloc(1, sizeof *table);
	if (!table) {
		error_no_memory(err);
		return NULL;
	}
	for (const struct embedded_file *file = metric_files; file->name; file++) {
		if (!metric_table_add(table, file->text, file->length, file->name, err)) {
			metric_table_free(table);
			return NULL;
		}
	}
	return table;
}

void metric_table_free(struct metric_table *table)
{
	if (!table)
		return;
	vec_free(&table->rows);
	arena_free(&table->arena);
	free(table);
}

size_t metric_table_count(const struct metric_table *table)
{
	return table->rows.count;
}

const struct metric *metric_table_at(const struct metric_table *table, size_t index)
{
	return index < table->rows.count ? table->rows.items[index] : NULL;
}

const struct metric *metric_find(const struct metric_table *table, const char *name, struct error *err)
{
	const struct metric *found = metric_table_at(table, place_of(table, name));
	if (found)
		return found;
	struct nearest near = { 0 };
	for (size_t i = 0; i < table->rows.count; i++)
		nearest_consider(&near, name, table->rows.items[i]->name);
	error_set(err, ERROR_USAGE, "unknown metric '%s'", name);
	if (near.names[2])
		error_hint(err, "the nearest names are '%s', '%s' and '%s'; 'tare list' shows all", near.names[0],
			   near.names[1], near.names[2]);
	return NULL;
}

const char *metric_name(const struct metric *m)
{
	return m->name;
}

const char *metric_definition(const struct metric *m)
{
	return m->definition;
}

const char *metric_unit(const struct metric *m)
{
	return m->unit;
}

const char *metric_formula(const struct metric *m)
{
	return m->formula_text;
}

const char *metric_caution(const struct metric *m)
{
	return m->caution;
}

size_t metric_event_count(const struct metric *m)
{
	return m->formula.n_inputs;
}

const char *metric_event(const struct metric *m, size_t index)
{
	return index < m->formula.n_inputs ? m->formula.inputs[index] : NULL;
}

bool metric_evaluate(const struct metric *m, const struct metric_input *inputs, struct metric_input *out,
		     struct error *err)
{
	return formula_evaluate(&m->formula, inputs, out, err);
}

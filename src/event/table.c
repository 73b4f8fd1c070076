/* The canonical events: rows of text (data/events/README.md has the format) as structs.
 *
 * Where names clash, a canonical name wins over names of other kinds, and otherwise the earlier row. The embedded
 * tables have no clashes (tests/unit/event_test.c). */
#include "event/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "event/formula.h"
#include "event/perfex_event.h"

extern const struct embedded_file event_files[];

typedef VEC(const char *) text_list;

/* What is wrong with the stanza, with the place. */
static bool wrong(const char *source, unsigned line, struct error *err, const char *what, const char *subject)
{
	return error_set(err, ERROR_SYNTAX, "%s:%u: %s '%s'", source, line, what, subject);
}

/* The list as an array in the arena that ends with NULL. */
static const char *const *keep_list(struct arena *arena, const text_list *list)
{
	const char **kept = arena_alloc(arena, (list->count + 1) * sizeof *kept);
	if (kept && list->count)
		memcpy(kept, list->items, list->count * sizeof *kept);
	return (const char *const *)kept;
}

static bool is_word_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.';
}

/* Canonical names can stand in lists, formulas and file names. */
static bool is_canonical_name(const char *name)
{
	if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')) || strlen(name) > 100)
		return false;
	for (; *name; name++)
		if (!is_word_character(*name))
			return false;
	return true;
}

/* Cuts the next word off *rest, words being separated by spaces and commas; NULL at the end. */
static char *next_word(char **rest)
{
	char *start = *rest + strspn(*rest, " \t,");
	if (!*start)
		return NULL;
	char *end = start + strcspn(start, " \t,");
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

static bool read_kind(const char *text, enum event_kind *kind)
{
	static const char *const kinds[] = {"occurrence", "duration", "level"};
	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, kinds[i]) == 0) {
			*kind = (enum event_kind)i;
			return true;
		}
	}
	return false;
}

static bool read_counted_by(const char *word, unsigned *counted_by)
{
	static const char *const by[] = {"perf", "process", "exact", "model"};
	for (unsigned i = 0; i < 4; i++) {
		if (strcmp(word, by[i]) == 0) {
			*counted_by |= 1u << i;
			return true;
		}
	}
	return false;
}

static bool is_scope(const char *text)
{
	static const char *const scopes[] = {"hardware thread", "thread", "process", "core", "package", "system"};
	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
		if (strcmp(text, scopes[i]) == 0)
			return true;
	return false;
}

/* "kind:rest" or "family,family:rest". */
static bool is_encoding(const char *text)
{
	static const char *const prefixes[] = {"generic", "software", "sysfs", "intel", "amd", "armv8", "other"};
	bool known = true;
	while (known) {
		size_t length = strcspn(text, ",:");
		known = false;
		for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
			known |= strlen(prefixes[i]) == length && strncmp(text, prefixes[i], length) == 0;
		text += length;
		if (*text != ',')
			break;
		text++;
	}
	return known && *text == ':' && text[1];
}

struct row_lists {
	text_list aliases, papers, encodings;
	VEC(struct event_model) models; /* of families */
};

/* "intel:l1d.fills", "l1d.read_misses": a formula over a machine's counters, of a family's machines or of all
 * others. Only its evaluator knows the names in it. */
static bool read_model(struct arena *arena, struct event_definition *row, struct row_lists *lists,
		       const struct stanza_key *key, const char *source, struct error *err)
{
	struct error why = {0};
	const char *colon = strchr(key->value, ':');
	const char *family = colon ? arena_strndup(arena, key->value, (size_t)(colon - key->value)) : NULL;
	struct formula *formula = arena_alloc(arena, sizeof *formula);
	if (!formula || (colon && !family))
		return error_no_memory(err);
	if (family && !is_canonical_name(family))
		return wrong(source, key->line, err, "not a family of machines:", family);
	bool twice = !family && row->model;
	for (size_t i = 0; family && i < lists->models.count; i++)
		twice |= strcmp(lists->models.items[i].family, family) == 0;
	if (twice)
		return wrong(source, key->line, err, "given twice:", family ? family : key->key);
	if (!formula_parse(colon ? colon + 1 : key->value, arena, formula, &why))
		return error_set(err, ERROR_SYNTAX, "%s:%u: model: %s", source, key->line, why.text);
	if (family)
		return vec_push(&lists->models, ((struct event_model){family, formula})) || error_no_memory(err);
	row->model = formula;
	return true;
}

/* The families' formulas as an array in the arena that ends with one of no family. */
static bool keep_models(struct arena *arena, struct event_definition *row, const struct row_lists *lists)
{
	if (!lists->models.count)
		return true;
	struct event_model *kept = arena_alloc(arena, (lists->models.count + 1) * sizeof *kept);
	if (kept)
		memcpy(kept, lists->models.items, lists->models.count * sizeof *kept);
	row->models = kept;
	return kept != NULL;
}

static bool read_key(struct arena *arena, struct event_definition *row, struct row_lists *lists,
		     const struct stanza_key *key, const char *source, struct error *err)
{
	const char *value = key->value;
	if (!*value)
		return wrong(source, key->line, err, "no value for", key->key);
	const char **once = strcmp(key->key, "definition") == 0 ? &row->definition
			    : strcmp(key->key, "unit") == 0     ? &row->unit
			    : strcmp(key->key, "scope") == 0    ? &row->scope
			    : strcmp(key->key, "no_model") == 0 ? &row->no_model
								: NULL;
	if (once) {
		if (*once)
			return wrong(source, key->line, err, "given twice:", key->key);
		if (once == &row->scope && !is_scope(value))
			return wrong(source, key->line, err, "not a scope:", value);
		*once = value;
		return true;
	}
	if (strcmp(key->key, "kind") == 0)
		return read_kind(value, &row->kind) ||
		       wrong(source, key->line, err, "not occurrence, duration or level:", value);
	if (strcmp(key->key, "default") == 0) {
		row->default_of_tasks = strcmp(value, "tasks") == 0;
		row->in_default_set = strcmp(value, "yes") == 0 || row->default_of_tasks;
		row->default_if_exact = strcmp(value, "exact") == 0;
		return row->in_default_set || row->default_if_exact || strcmp(value, "no") == 0 ||
		       wrong(source, key->line, err, "not yes, no, tasks or exact:", value);
	}
	if (strcmp(key->key, "detail") == 0) {
		char *end;
		unsigned long detail = strtoul(value, &end, 10);
		row->detail = (uint8_t)detail;
		return (!*end && detail >= 1 && detail <= UINT8_MAX) ||
		       wrong(source, key->line, err, "not a number from 1 to 255:", value);
	}
	if (strcmp(key->key, "overhead") == 0) {
		row->constant_overhead = strcmp(value, "constant") == 0;
		return row->constant_overhead || strcmp(value, "varies") == 0 ||
		       wrong(source, key->line, err, "not constant or varies:", value);
	}
	if (strcmp(key->key, "paper") == 0)
		return strchr(value, ':') ? vec_push(&lists->papers, value) || error_no_memory(err)
					  : wrong(source, key->line, err, "not tool:name:", value);
	if (strcmp(key->key, "encoding") == 0)
		return is_encoding(value) ? vec_push(&lists->encodings, value) || error_no_memory(err)
					  : wrong(source, key->line, err, "not a kind of encoding:", value);

	if (strcmp(key->key, "model") == 0)
		return read_model(arena, row, lists, key, source, err);

	/* the rest are lists of words */
	char *words = arena_strdup(arena, value);
	if (!words)
		return error_no_memory(err);
	for (const char *word; (word = next_word(&words));) {
		if (strcmp(key->key, "counted_by") == 0) {
			if (!read_counted_by(word, &row->counted_by))
				return wrong(source, key->line, err, "not perf, process, exact or model:", word);
		} else if (strcmp(key->key, "papi") == 0) {
			word += strncmp(word, "PAPI_", 5) == 0 ? 5 : 0;
			const char *full = arena_printf(arena, "PAPI_%s", word);
			if (!full || !vec_push(&lists->aliases, full))
				return error_no_memory(err);
			if (!row->papi)
				row->papi = full + 5;
		} else if (strcmp(key->key, "alias") == 0) {
			if (!is_canonical_name(word))
				return wrong(source, key->line, err, "not a name:", word);
			if (!vec_push(&lists->aliases, word))
				return error_no_memory(err);
		} else {
			return wrong(source, key->line, err, "unknown key", key->key);
		}
	}
	return true;
}

/* The row of one stanza, in the arena; NULL on failure. */
static const void *read_row(struct arena *arena, const struct stanza *stanza, const char *source,
			    struct error *err)
{
	struct row_lists lists = {0};
	const struct event_definition *done = NULL;
	struct event_definition *row = arena_alloc(arena, sizeof *row);
	if (!row) {
		error_no_memory(err);
		goto out;
	}
	row->name = stanza->name;
	if (!is_canonical_name(row->name)) {
		wrong(source, stanza->line, err, "not a name:", row->name);
		goto out;
	}
	for (size_t i = 0; i < stanza->n_keys; i++)
		if (!read_key(arena, row, &lists, &stanza->keys[i], source, err))
			goto out;
	const char *missing = !row->definition   ? "definition"
			      : !row->unit       ? "unit"
			      : !row->scope      ? "scope"
			      : !row->counted_by ? "counted_by"
						 : NULL;
	if (missing) {
		error_set(err, ERROR_SYNTAX, "%s:%u: the event '%s' has no %s", source, stanza->line, row->name,
			  missing);
		goto out;
	}
	if (((row->counted_by & COUNTED_BY_PERF) != 0) != (lists.encodings.count > 0)) {
		error_set(err, ERROR_SYNTAX, "%s:%u: the event '%s' %s", source, stanza->line, row->name,
			  lists.encodings.count ? "has encodings, but 'counted_by' does not name perf"
						: "names perf in 'counted_by', but has no encoding");
		goto out;
	}
	if ((row->model || row->no_model) &&
	    (!(row->counted_by & COUNTED_BY_MODEL) || (row->model && row->no_model))) {
		error_set(err, ERROR_SYNTAX, "%s:%u: the event '%s' %s", source, stanza->line, row->name,
			  row->model && row->no_model ? "has both 'model' and 'no_model'"
						      : "has a model, but 'counted_by' does not name model");
		goto out;
	}
	if (lists.models.count && !row->model) {
		error_set(err, ERROR_SYNTAX,
			  "%s:%u: the event '%s' has models of families, but none for all other machines", source,
			  stanza->line, row->name);
		goto out;
	}
	if (row->kind == EVENT_DURATION && row->counted_by & COUNTED_BY_MODEL && !row->model && !row->no_model)
		row->no_model = "a timing event: it needs the pipeline model, still to come";
	row->paper_names = keep_list(arena, &lists.papers);
	row->encodings = keep_list(arena, &lists.encodings);
	row->aliases = keep_list(arena, &lists.aliases);
	if (!row->paper_names || !row->encodings || !row->aliases || !keep_models(arena, row, &lists))
		error_no_memory(err);
	else
		done = row;
out:
	vec_free(&lists.aliases);
	vec_free(&lists.papers);
	vec_free(&lists.encodings);
	vec_free(&lists.models);
	return done;
}

/* As rows.c has it: a list of thousands of events looks at each row. */
static inline bool same(const char *a, const char *b) { return *a == *b && strcmp(a, b) == 0; }

bool event_table_add(struct event_table *table, const char *text, size_t length, const char *source,
		     struct error *err)
{
	return rows_add(&table->rows, read_row, &table->arena, text, length, source, err);
}

struct event_table *event_table_new(struct error *err)
{
	struct event_table *table = calloc(1, sizeof *table);
	if (!table) {
		error_no_memory(err);
		return NULL;
	}
	if (rows_add_embedded(&table->rows, read_row, &table->arena, event_files, err))
		return table;
	event_table_free(table);
	return NULL;
}

void event_table_free(struct event_table *table)
{
	if (!table)
		return;
	rows_free(&table->rows);
	pfm_names_free(&table->pfm_names);
	arena_free(&table->arena);
	free(table);
}

size_t event_table_count(const struct event_table *table) { return table->rows.all.count; }

const struct event_definition *event_table_at(const struct event_table *table, size_t index)
{
	return rows_at(&table->rows, index);
}

const struct event_definition *event_table_find(const struct event_table *table, const char *name)
{
	return rows_find(&table->rows, name);
}

static bool is_alias(const struct event_definition *row, const char *name)
{
	for (const char *const *alias = row->aliases; *alias; alias++)
		if (same(*alias, name))
			return true;
	return false;
}

static bool is_papi_name(const struct event_definition *row, const char *name)
{
	size_t skip = strncmp(name, "PAPI_", 5) == 0 ? 0 : 5;
	for (const char *const *alias = row->aliases; *alias; alias++)
		if (**alias == 'P' && strncmp(*alias, "PAPI_", 5) == 0 && same(*alias + skip, name))
			return true;
	return false;
}

static bool is_paper_name(const struct event_definition *row, const char *name)
{
	/* they all have a colon */
	for (const char *const *paper = row->paper_names; *paper && strchr(name, ':'); paper++)
		if (str_equal_nocase(*paper, name))
			return true;
	return false;
}

/* The papers' names without their tool in front ("data_tlb_miss"): letter for letter, as libpfm4's names differ
 * from some in case alone. */
static bool is_bare_paper_name(const struct event_definition *row, const char *name)
{
	for (const char *const *paper = row->paper_names; *paper; paper++)
		if (strcmp(strchr(*paper, ':') + 1, name) == 0)
			return true;
	return false;
}

/* An event of the R10000 by its name in the paper's Appendix A, where perfex lists it by another: that one. NULL:
 * it is none. */
static const char *perfex_listed(const char *name)
{
	const struct perfex_event *event;
	static const char tool[] = "r10000:";
	bool prefixed = strncmp(name, tool, sizeof tool - 1) == 0;
	for (size_t i = 0; (event = perfex_event_at(i)); i++)
		if (prefixed ? str_equal_nocase(event->appendix, name + sizeof tool - 1)
			     : strcmp(event->appendix, name) == 0)
			return event->listed;
	return NULL;
}

bool event_table_match(const struct event_table *table, const char *name, struct event_match *match)
{
	*match = (struct event_match){.row = event_table_find(table, name), .naming = NAMED_CANONICAL};
	for (size_t i = 0; !match->row && i < table->rows.all.count; i++) {
		const struct event_definition *row = event_table_at(table, i);
		if (is_papi_name(row, name))
			*match = (struct event_match){row, NAMED_PAPI, false};
		else if (is_alias(row, name))
			*match = (struct event_match){row, NAMED_CANONICAL, true};
		else if (is_paper_name(row, name))
			*match = (struct event_match){row, NAMED_PAPER, false};
	}
	const char *listed = match->row ? NULL : perfex_listed(name);
	for (size_t i = 0; !match->row && i < table->rows.all.count; i++) {
		const struct event_definition *row = event_table_at(table, i);
		if (is_bare_paper_name(row, name) || (listed && is_bare_paper_name(row, listed)))
			*match = (struct event_match){row, NAMED_PAPER, false};
	}
	return match->row != NULL;
}

void event_table_nearest(const struct event_table *table, const char *name, struct nearest *found)
{
	/* names in capitals are PAPI's, and the papers' have their tool in front: no use to others */
	bool capitals = name[strcspn(name, "abcdefghijklmnopqrstuvwxyz")] == '\0';
	size_t skip = strncmp(name, "PAPI_", 5) == 0 ? 0 : 5;
	for (size_t i = 0; i < table->rows.all.count; i++) {
		const struct event_definition *row = event_table_at(table, i);
		nearest_consider(found, name, row->name);
		for (const char *const *alias = row->aliases; *alias; alias++)
			if (strncmp(*alias, "PAPI_", 5) != 0)
				nearest_consider(found, name, *alias);
			else if (capitals || skip == 0)
				nearest_consider(found, name, *alias + skip);
		for (const char *const *paper = row->paper_names; strchr(name, ':') && *paper; paper++)
			nearest_consider(found, name, *paper);
	}
}

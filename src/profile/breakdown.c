#include "profile/breakdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/nested.h"
#include "symbol/jit.h"

/* What makes a row: equal keys are one row. Strings are those of the symbols, which answer equal questions with
 * equal pointers, or not: they are compared as text. */
struct key {
	const char *name, *module, *file;
	uint64_t begins; /* by function: tells namesakes apart */
	unsigned line;
	const struct location *heap; /* of a heap object: the location, which has a stack of its own */
};

struct function_key {
	const char *module;
	uint64_t begins;
	uint32_t pid;
};

struct breakdown_build {
	const struct locations *locations;
	struct symbols *symbols;
	struct breakdown *out;
	struct key *keys; /* of the rows */
	size_t capacity, key_capacity;
	struct hash_index index;    /* of keys */
	VEC(const char *) troubled; /* modules that were mentioned */
	VEC(const char *) notes;
	struct hash_index functions; /* of function_keys: by line, of inclusive counts */
	VEC(struct function_key) function_keys;
	struct nested_lines nested;
};

static uint64_t hash_key(const struct breakdown_build *build, const struct key *k)
{
	uint64_t h = hash_text(hash_text(hash_text(HASH_BEGIN, k->name), k->module), k->file);
	h = hash_number(hash_number(h, k->begins), k->line);
	return hash_number(h, k->heap ? (uint64_t)(k->heap - build->locations->all) + 1 : 0);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same(const struct key *a, const struct key *b)
{
	return a->begins == b->begins && a->line == b->line && a->heap == b->heap && same_text(a->name, b->name) &&
	       same_text(a->module, b->module) && same_text(a->file, b->file);
}

static const char *copy(struct breakdown *out, const char *text)
{
	return text ? arena_strdup(&out->arena, text) : NULL;
}

/* The row of a key; a new one has its names, and the rest zero. NULL when memory ran out. */
static struct breakdown_row *row_of(struct breakdown_build *build, const struct key *key)
{
	struct breakdown *out = build->out;
	const uint64_t hash = hash_key(build, key);
	struct hash_search search = hash_find(&build->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (same(&build->keys[i], key))
			return &out->rows[i];
	struct breakdown_row row = {.name = copy(out, key->name),
				    .module = copy(out, key->module ? key->module : ""),
				    .file = copy(out, key->file),
				    .line = key->line,
				    .counts = arena_alloc(&out->arena, (out->n_events + 1) * sizeof *row.counts)};
	if (out->inclusive)
		row.inclusive = arena_alloc(&out->arena, (out->n_events + 1) * sizeof *row.inclusive);
	if (!row.name || !row.module || (key->file && !row.file) || !row.counts ||
	    (out->inclusive && !row.inclusive) ||
	    !vec_grow((void **)&out->rows, &build->capacity, out->n_rows, sizeof *out->rows) ||
	    !vec_grow((void **)&build->keys, &build->key_capacity, out->n_rows, sizeof *build->keys))
		return NULL;
	if (!hash_add(&build->index, hash, (uint32_t)out->n_rows))
		return NULL;
	out->rows[out->n_rows] = row;
	build->keys[out->n_rows] = *key;
	return &out->rows[out->n_rows++];
}

/* Once of each module: why its names are fewer than they could be. trouble NULL: as the symbols say. */
static bool mention(struct breakdown_build *build, const char *module, const char *trouble)
{
	for (size_t i = 0; i < build->troubled.count; i++)
		if (build->troubled.items[i] == module || strcmp(build->troubled.items[i], module) == 0)
			return true;
	if (!vec_push(&build->troubled, module))
		return false;
	if (!trouble && !(trouble = symbols_trouble(build->symbols, module)))
		return true;
	const char *note = arena_printf(&build->out->arena, "%s: %s", module, trouble);
	return note && vec_push(&build->notes, note);
}

enum { INLINED_MOST = 8 }; /* of one address, that are looked at */

/* The file alone: no name is looked for in it. */
static struct breakdown_row *library_row(struct breakdown_build *build, const struct location *l)
{
	const char *slash = strrchr(l->module, '/');
	struct key key = {.module = l->module, .name = slash ? slash + 1 : l->module};
	if (!l->module[0])
		key.name = "[code of no file]";
	return row_of(build, &key);
}

/* Why code that the process made has no names. False when memory ran out. */
static bool mention_process(struct breakdown_build *build, uint32_t pid, const char *trouble)
{
	const char *process = arena_printf(&build->out->arena, "code that process %u made as it ran",
					   (unsigned)pid);
	return process && mention(build, process, trouble);
}

/* Code of no file, by the name that its JIT compiler gave it. NULL when memory ran out. */
static struct breakdown_row *made_row(struct breakdown_build *build, const struct location *l, struct error *err)
{
	struct jit_names *names = symbols_jit(build->symbols, l->pid, err);
	struct jit_code code;
	struct key key = {.name = "[anonymous]", .module = ""};
	if (!names)
		return NULL;
	if (jit_find(names, l->offset, &code))
		key = (struct key){.name = code.name, .module = "[jit]", .begins = code.begins};
	else if (jit_trouble(names) && !mention_process(build, l->pid, jit_trouble(names)))
		return NULL;
	return row_of(build, &key);
}

static struct breakdown_row *code_row(struct breakdown_build *build, const struct location *l, struct error *err)
{
	if (l->pid)
		return made_row(build, l, err);
	const struct symbol_code *code = symbols_code(build->symbols, l->module, l->offset, err);
	struct key key = {.module = l->module};
	if (!code || (!code->linked_name && !mention(build, l->module, NULL)))
		return NULL;
	key.name = code->function;
	if (build->out->by == BREAKDOWN_BY_LINE) {
		key.file = code->file, key.line = code->file ? code->line : 0;
		/* one line may be in several functions (inlined), and a function without lines is its own */
		if (code->file)
			key.name = "";
		else
			key.begins = code->begins;
	} else {
		key.begins = code->begins;
		/* the file in which the function begins, whatever was inlined there */
		const struct symbol_code *start = symbols_code(build->symbols, l->module, code->begins, err);
		struct symbol_frame inlined[INLINED_MOST];
		if (!start)
			return NULL;
		size_t n = start->file ? symbols_inlined(build->symbols, l->module, code->begins, inlined,
							 INLINED_MOST)
				       : 0;
		key.file = n > 1 && n <= INLINED_MOST && inlined[n - 1].file ? inlined[n - 1].file : start->file;
	}
	return row_of(build, &key);
}

/* The functions that one return address is in: those that were inlined there first. Returns how many; 0: memory
 * ran out. */
static size_t fill_frame(struct breakdown_build *build, const struct location_frame *from,
			 struct breakdown_frame *to, struct error *err)
{
	/* a return address is behind the call: its line may be the next one */
	uint64_t offset = from->offset ? from->offset - 1 : 0;
	const struct symbol_code *code = symbols_code(build->symbols, from->module, offset, err);
	struct symbol_frame inlined[INLINED_MOST];
	size_t n = code ? symbols_inlined(build->symbols, from->module, offset, inlined, INLINED_MOST) : 0;
	if (!code)
		return 0;
	if (n < 2 || n > INLINED_MOST) {
		n = 1;
		inlined[0] = (struct symbol_frame){.file = code->file, .line = code->line};
	}
	inlined[n - 1].function = code->function; /* of the function itself the symbol's name, as elsewhere */
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct breakdown_frame){.function = copy(build->out, inlined[i].function),
						 .module = copy(build->out, from->module),
						 .file = copy(build->out, inlined[i].file),
						 .line = inlined[i].line};
		if (!to[i].function || !to[i].module || (inlined[i].file && !to[i].file))
			return 0;
	}
	return n;
}

static bool fill_frames(struct breakdown_build *build, const struct location *l, struct breakdown_row *row,
			struct error *err)
{
	struct breakdown_frame *frames = arena_alloc(&build->out->arena,
						     (l->n_frames * INLINED_MOST + 1) * sizeof *frames);
	if (!frames)
		return false;
	row->frames = frames;
	for (size_t i = 0; i < l->n_frames; i++) {
		size_t n = fill_frame(build, &l->frames[i], frames + row->n_frames, err);
		if (!n)
			return false;
		row->n_frames += n;
	}
	return true;
}

/* The variable of a cell of static data. Several in one cell: shared[size] has all of their names, else it is
 * "". */
static const struct symbol_data *static_data(struct breakdown_build *build, const struct location *l, char *shared,
					     size_t size)
{
	const struct symbol_data *first = NULL, *last = NULL;
	uint64_t address;
	size_t length = 0;
	shared[0] = '\0';
	if (!symbols_mapping(build->symbols, l->module, l->offset, l->writable, &address))
		return NULL;
	address += l->beyond;
	/* a cell that is a whole region has no variable of its own */
	for (uint64_t at = address; at < address + (l->bytes <= 64 ? l->bytes : 1);) {
		const struct symbol_data *data = symbols_data(build->symbols, l->module, at);
		if (!data || !data->linked_name) {
			first = first ? first : data;
			at++;
			continue;
		}
		if (!first || !first->linked_name)
			first = data;
		if (last)
			length += (size_t)snprintf(shared + length, size - length, "%s, %s",
						   length ? "" : last->name, data->name);
		if (length >= size)
			break;
		last = data;
		at = data->address + data->bytes;
	}
	return first;
}

static struct breakdown_row *object_row(struct breakdown_build *build, const struct location *l, struct error *err)
{
	static const char *const kinds[] = {[LOCATION_CODE] = "code",           [LOCATION_STATIC] = "variable",
					    [LOCATION_HEAP] = "heap",           [LOCATION_MAPPING] = "mapping",
					    [LOCATION_STACK] = "stack",         [LOCATION_THREAD] = "thread-local",
					    [LOCATION_ALLOCATOR] = "allocator", [LOCATION_OTHERS] = "heap",
					    [LOCATION_UNKNOWN] = "unknown"};
	struct key key = {.module = l->module ? l->module : ""};
	const struct symbol_data *data = NULL;
	char shared[512] = "";
	switch (l->kind) {
	case LOCATION_STATIC:
		data = static_data(build, l, shared, sizeof shared);
		if (!(data && data->linked_name) && !mention(build, l->module, NULL))
			return NULL;
		if (!data) /* its headers; what ld.so allocates behind its own data */
			snprintf(shared, sizeof shared, "[outside of its sections]");
		key.name = shared[0] ? shared : data->name;
		key.begins = data ? data->address : 0;
		break;
	case LOCATION_HEAP:
	case LOCATION_MAPPING:
		key.name = l->kind == LOCATION_HEAP ? "[heap]" : "[mapping]";
		key.heap = l->n_frames || l->kind == LOCATION_HEAP ? l : NULL;
		break;
	case LOCATION_STACK: key.name = "[stack]"; break;
	case LOCATION_THREAD:
		data = symbols_thread_data(build->symbols, key.module, l->beyond);
		if (!(data && data->linked_name) && key.module[0] && !mention(build, l->module, NULL))
			return NULL;
		key.name = data ? data->name : "[thread-local]";
		key.begins = data ? data->address : 0;
		break;
	case LOCATION_CODE: key.name = "[instructions]"; break;
	case LOCATION_ALLOCATOR: key.name = "[heap outside of its blocks]"; break;
	case LOCATION_OTHERS: key.name = "[other heap blocks and mappings]"; break;
	case LOCATION_UNKNOWN: key.name = "[unknown]"; break;
	}
	struct breakdown_row *row = row_of(build, &key);
	if (!row)
		return NULL;
	row->kind = kinds[l->kind];
	if (data && data->linked_name && !shared[0])
		row->blocks = 1, row->bytes = data->bytes;
	if (key.heap) {
		row->blocks = l->blocks, row->bytes = l->bytes;
		if (!row->frames && !fill_frames(build, l, row, err))
			return NULL;
	}
	return row;
}

static bool has_counts(const struct breakdown_build *build, const struct location *l)
{
	for (size_t i = 0; i < build->out->n_events; i++)
		if (l->counts[i] != 0 && !build->out->events[i].why)
			return true;
	return false;
}

static bool add(struct breakdown_build *build, const struct location *l, struct error *err)
{
	if (!has_counts(build, l))
		return true; /* what has no count needs no name */
	struct breakdown_row *row = build->out->by == BREAKDOWN_BY_OBJECT    ? object_row(build, l, err)
				    : build->out->by == BREAKDOWN_BY_LIBRARY ? library_row(build, l)
									     : code_row(build, l, err);
	if (!row)
		return error_no_memory(err);
	for (size_t i = 0; i < build->out->n_events; i++) {
		struct breakdown_event *e = &build->out->events[i];
		if (e->why)
			continue;
		row->counts[i] += l->counts[i]; /* no larger than the sum, which is looked at */
		if (__builtin_add_overflow(e->sum, l->counts[i], &e->sum) && !e->defect)
			e->defect = "the counts of its places do not fit in 64 bits: a defect of tare; do not use "
				    "these rows";
	}
	return true;
}

/* ---- with what was called ---- */

const char *breakdown_arcs_wrong(const struct locations *l, char *text, size_t bytes)
{
	if (l->arcs_why)
		return l->arcs_why;
	for (size_t e = 0; e < l->n_events; e++) {
		uint64_t sum = locations_arcs_sum(l, e);
		if (l->events[e].why || sum == l->events[e].total)
			continue;
		snprintf(text, bytes,
			 "calls have %llu %s and the count is %llu: a defect of tare, please report it",
			 (unsigned long long)sum, l->events[e].label ? l->events[e].label : "events",
			 (unsigned long long)l->events[e].total);
		return text;
	}
	return NULL;
}

enum { LEVELS_MOST = 32 }; /* of inlining, at one place */

static void add_counts(const struct breakdown *b, uint64_t *sums, const uint64_t *counts)
{
	for (size_t e = 0; e < b->n_events; e++)
		sums[e] += b->events[e].why ? 0 : counts[e]; /* no larger than the event's total */
}

static struct location caller_of(const struct location_arc *arc)
{
	return (struct location){.module = arc->caller, .offset = arc->caller_offset, .pid = arc->caller_pid};
}

static struct location callee_of(const struct location_arc *arc)
{
	return (struct location){.module = arc->callee, .offset = arc->callee_offset, .pid = arc->callee_pid};
}

static bool add_arc_to_function(struct breakdown_build *build, const struct location_arc *arc,
				struct nested_row_arc *rows, struct error *err)
{
	struct breakdown *b = build->out;
	const struct location from = caller_of(arc), to = callee_of(arc);
	size_t caller = SIZE_MAX, callee;
	struct breakdown_row *row;
	if (arc->caller) {
		if (!(row = code_row(build, &from, err)))
			return false;
		caller = (size_t)(row - b->rows);
	}
	if (!(row = code_row(build, &to, err)))
		return false;
	callee = (size_t)(row - b->rows);
	if (caller != callee)
		add_counts(b, b->rows[callee].inclusive, arc->inclusive);
	*rows = (struct nested_row_arc){.caller = (uint32_t)caller,
					.callee = (uint32_t)callee,
					.space = arc->callee_pid,
					.offset = arc->callee_offset};
	return true;
}

/* A place in no function is a row of its own; to most of them no call leads, and to others control also
 * comes otherwise. False when memory ran out. */
static bool end_functions(struct breakdown *b, const struct nested_row_arc *arcs, size_t n_arcs)
{
	bool *nested = calloc(b->n_rows + 1, sizeof *nested);
	bool done = nested && nested_rows_find(arcs, n_arcs, b->n_rows, nested);
	for (size_t i = 0; done && i < b->n_rows; i++) {
		struct breakdown_row *row = &b->rows[i];
		for (size_t e = 0; e < b->n_events; e++) {
			nested[i] |= row->inclusive[e] && row->inclusive[e] < row->counts[e];
			if (!row->inclusive[e])
				row->inclusive[e] = row->counts[e];
		}
		if (nested[i])
			row->inclusive = NULL;
	}
	free(nested);
	return done;
}

/* Where the machine code's function begins that a place is in. False when memory ran out. */
static bool begin_at(struct breakdown_build *build, const struct location *l, uint64_t *begins, struct error *err)
{
	struct jit_names *names = l->pid ? symbols_jit(build->symbols, l->pid, err) : NULL;
	struct jit_code made;
	if (names) {
		*begins = jit_find(names, l->offset, &made) ? made.begins : 0;
		return true;
	}
	const struct symbol_code *code = l->pid ? NULL : symbols_code(build->symbols, l->module, l->offset, err);
	*begins = code ? code->begins : 0;
	return code != NULL;
}

/* The machine code's function that a place is in, by number: of the build's own. UINT32_MAX when memory ran
 * out. */
static uint32_t function_at(struct breakdown_build *build, const struct location *l, struct error *err)
{
	struct function_key key = {.module = l->module, .pid = l->pid};
	if (!begin_at(build, l, &key.begins, err))
		return UINT32_MAX;
	const uint64_t hash = hash_number(hash_number(hash_text(HASH_BEGIN, key.module), key.begins), key.pid);
	struct hash_search search = hash_find(&build->functions, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (build->function_keys.items[i].begins == key.begins &&
		    build->function_keys.items[i].pid == key.pid &&
		    strcmp(build->function_keys.items[i].module, key.module) == 0)
			return i;
	if (!vec_push(&build->function_keys, key) ||
	    !hash_add(&build->functions, hash, (uint32_t)build->function_keys.count - 1))
		return UINT32_MAX;
	return (uint32_t)build->function_keys.count - 1;
}

/* The rows of a place: of its line, and of those that what it is in was inlined in; each once. Returns how
 * many; 0: memory ran out. */
static size_t line_rows(struct breakdown_build *build, const struct location *l, uint32_t rows[LEVELS_MOST],
			struct error *err)
{
	const char *module = l->module;
	struct symbol_frame levels[LEVELS_MOST];
	const struct symbol_code *code = symbols_code(build->symbols, module, l->offset, err);
	struct breakdown_row *row = code ? code_row(build, l, err) : NULL;
	if (!row)
		return 0;
	rows[0] = (uint32_t)(row - build->out->rows);
	size_t n = code->file ? symbols_inlined(build->symbols, module, l->offset, levels, LEVELS_MOST) : 0,
	       found = 1;
	for (size_t i = 1; i < n && n <= LEVELS_MOST; i++) {
		struct key key = {.name = "", .module = module, .file = levels[i].file, .line = levels[i].line};
		if (!levels[i].file)
			key = (struct key){.name = code->function, .module = module, .begins = code->begins};
		if (!(row = row_of(build, &key)))
			return 0;
		uint32_t index = (uint32_t)(row - build->out->rows);
		size_t k = 0;
		while (k < found && rows[k] != index)
			k++;
		if (k == found)
			rows[found++] = index;
	}
	return found;
}

/* calls: a call's arc, from there to `callee`; UINT32_MAX: it is what was executed there. */
static bool add_to_lines(struct breakdown_build *build, const struct location *l, const uint64_t *counts,
			 uint32_t callee, struct error *err)
{
	uint32_t rows[LEVELS_MOST], function = function_at(build, l, err);
	size_t n = line_rows(build, l, rows, err);
	bool done = n && function != UINT32_MAX;
	for (size_t i = 0; done && i < n; i++) {
		add_counts(build->out, build->out->rows[rows[i]].inclusive, counts);
		done = nested_add_place(&build->nested, rows[i], function) &&
		       (callee == UINT32_MAX || nested_add_call(&build->nested, rows[i], callee));
	}
	return done && (callee == UINT32_MAX || nested_add_arc(&build->nested, function, callee));
}

static bool forget_nested(struct breakdown_build *build)
{
	struct breakdown *b = build->out;
	bool *nested = calloc(b->n_rows + 1, sizeof *nested);
	build->nested.n_functions = build->function_keys.count;
	build->nested.n_lines = b->n_rows;
	bool done = nested && nested_find(&build->nested, nested);
	for (size_t i = 0; done && i < b->n_rows; i++)
		if (nested[i])
			b->rows[i].inclusive = NULL;
	free(nested);
	return done;
}

static bool add_by_line(struct breakdown_build *build, struct error *err)
{
	const struct locations *l = build->locations;
	for (size_t i = 0; i < l->n; i++)
		if (has_counts(build, &l->all[i]) &&
		    !add_to_lines(build, &l->all[i], l->all[i].counts, UINT32_MAX, err))
			return error_no_memory(err);
	for (size_t i = 0; i < l->n_arcs; i++) {
		const struct location_arc *arc = &l->arcs[i];
		const struct location from = caller_of(arc), to = callee_of(arc);
		uint32_t callee = arc->caller ? function_at(build, &to, err) : 0;
		if (callee == UINT32_MAX ||
		    (arc->caller && !add_to_lines(build, &from, arc->inclusive, callee, err)))
			return error_no_memory(err);
	}
	return forget_nested(build) || error_no_memory(err);
}

static bool add_inclusive(struct breakdown_build *build, struct error *err)
{
	const struct locations *l = build->locations;
	struct breakdown *b = build->out;
	if (b->by == BREAKDOWN_BY_LINE)
		return add_by_line(build, err);
	struct nested_row_arc *arcs = calloc(l->n_arcs + 1, sizeof *arcs);
	bool done = arcs != NULL;
	for (size_t i = 0; done && i < l->n_arcs; i++)
		done = add_arc_to_function(build, &l->arcs[i], &arcs[i], err);
	done = done && end_functions(b, arcs, l->n_arcs);
	free(arcs);
	return done || error_no_memory(err);
}

/* ---- order and sums ---- */

/* qsort has no context: rows are sorted through pointers that carry it. */
struct sorted {
	const struct breakdown *breakdown;
	const struct breakdown_row *row;
};

static int by_counts(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	for (size_t i = 0; i < x->breakdown->n_events; i++)
		if (x->row->counts[i] != y->row->counts[i])
			return x->row->counts[i] > y->row->counts[i] ? -1 : 1;
	const uint64_t *a_all = x->row->inclusive, *b_all = y->row->inclusive;
	for (size_t i = 0; a_all && b_all && i < x->breakdown->n_events; i++)
		if (a_all[i] != b_all[i])
			return a_all[i] > b_all[i] ? -1 : 1;
	int order = strcmp(x->row->module, y->row->module);
	if (order == 0)
		order = strcmp(x->row->file ? x->row->file : "", y->row->file ? y->row->file : "");
	if (order == 0 && x->row->line != y->row->line)
		order = x->row->line < y->row->line ? -1 : 1;
	return order ? order : strcmp(x->row->name, y->row->name);
}

static bool sort_rows(struct breakdown *b)
{
	struct sorted *sorted = calloc(b->n_rows + 1, sizeof *sorted);
	struct breakdown_row *rows = arena_alloc(&b->arena, (b->n_rows + 1) * sizeof *rows);
	if (!sorted || !rows) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < b->n_rows; i++)
		sorted[i] = (struct sorted){b, &b->rows[i]};
	qsort(sorted, b->n_rows, sizeof *sorted, by_counts);
	for (size_t i = 0; i < b->n_rows; i++)
		rows[i] = *sorted[i].row;
	free(sorted);
	free(b->rows);
	b->rows = rows; /* from here on the arena's */
	return true;
}

static bool check_sums(struct breakdown *b)
{
	for (size_t i = 0; i < b->n_events; i++) {
		struct breakdown_event *e = &b->events[i];
		if (e->why || e->defect || e->sum == e->total)
			continue;
		e->defect = arena_printf(
			&b->arena,
			"its places have %llu and its count is %llu: a defect of tare; do not use these rows",
			(unsigned long long)e->sum, (unsigned long long)e->total);
		if (!e->defect)
			return false;
	}
	return true;
}

static bool name_events(struct breakdown_build *build)
{
	struct breakdown *b = build->out;
	b->n_events = build->locations->n_events;
	if (!(b->events = arena_alloc(&b->arena, (b->n_events + 1) * sizeof *b->events)))
		return false;
	for (size_t i = 0; i < b->n_events; i++) {
		const struct located_event *from = &build->locations->events[i];
		struct breakdown_event *e = &b->events[i];
		*e = (struct breakdown_event){.label = copy(b, from->label ? from->label : ""),
					      .unit = copy(b, from->unit ? from->unit : ""),
					      .machine = copy(b, from->machine),
					      .total = from->total,
					      .why = copy(b, from->why)};
		if (!e->label || !e->unit || (from->machine && !e->machine) || (from->why && !e->why))
			return false;
	}
	return true;
}

bool breakdown_new(const struct locations *locations, struct symbols *symbols, enum breakdown_by by,
		   bool inclusive, struct breakdown **out, struct error *err)
{
	struct breakdown_build build = {.locations = locations, .symbols = symbols};
	struct breakdown *b = *out = calloc(1, sizeof *b);
	bool sorted = false, done = false;
	if (!b)
		return error_no_memory(err);
	b->by = by;
	b->inclusive = inclusive;
	build.out = b;
	if (!name_events(&build)) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < locations->n; i++)
		if (!add(&build, &locations->all[i], err))
			goto out;
	if (inclusive && !add_inclusive(&build, err))
		goto out;
	if (!(sorted = sort_rows(b)) || !check_sums(b)) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < locations->n_notes; i++) {
		const char *note = copy(b, locations->notes[i]);
		if (!note || !vec_push(&build.notes, note)) {
			error_no_memory(err);
			goto out;
		}
	}
	if (build.notes.count) {
		if (!(b->notes = arena_alloc(&b->arena, build.notes.count * sizeof *b->notes))) {
			error_no_memory(err);
			goto out;
		}
		memcpy(b->notes, build.notes.items, build.notes.count * sizeof *b->notes);
		b->n_notes = build.notes.count;
	}
	done = true;
out:
	free(build.keys);
	hash_free(&build.index);
	hash_free(&build.functions);
	vec_free(&build.function_keys);
	nested_free(&build.nested);
	vec_free(&build.troubled);
	vec_free(&build.notes);
	if (!done) {
		if (!sorted)
			free(b->rows);
		breakdown_free(b);
		free(b);
		*out = NULL;
	}
	return done;
}

#include "profile/named.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/inclusive.h"
#include "profile/small.h"
#include "symbol/jit.h"
#include "symbol/kernel.h"

enum { INLINED_MOST = 32 }; /* of one address, that are looked at */

enum { MODULES_NAMED = 4 }; /* in one note */

struct trouble_note {
	const char *what;
	VEC(const char *) modules;
};

struct naming_build {
	bool here;
	struct kernel_names *kernel; /* NULL: not asked yet */
	bool *small;                 /* [n_modules]: its lines are left out; NULL: of none */
	VEC(uint8_t) changed; /* of each module: 0: not looked at; 1: the file that was profiled; 2: another */
	const struct profile *profile;
	struct symbols *symbols;
	struct named_profile *out;
	struct error *err;
	struct hash_index places, functions, texts, lines, troubled;
	VEC(const char *) strings; /* of `texts` */
	VEC(const char *) modules; /* of `troubled` */
	VEC(const char *) notes;
	VEC(struct trouble_note) troubles;
	size_t function_capacity, frame_capacity, place_capacity, row_capacity, line_capacity;
	/* of a file without lines: all places that have this code have this frame */
	const struct symbol_code *code; /* NULL: nothing is known */
	uint32_t code_module;
	struct named_frame frame;
};

#define NO_INDEX UINT32_MAX

/* ---- texts ---- */

/* The one copy of a text. NULL when memory ran out. */
static const char *intern(struct naming_build *naming, const char *text)
{
	uint64_t hash = hash_text(HASH_BEGIN, text);
	struct hash_search search = hash_find(&naming->texts, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(naming->strings.items[i], text) == 0)
			return naming->strings.items[i];
	const char *kept = arena_strdup(&naming->out->arena, text);
	if (!kept || !vec_push(&naming->strings, kept) ||
	    !hash_add(&naming->texts, hash, (uint32_t)naming->strings.count - 1))
		return NULL;
	return kept;
}

void named_normalise_path(char *path)
{
	char *out = path, *from = path, *root;
	bool absolute = *path == '/';
	if (absolute)
		out++, from++;
	root = out; /* ".." above it stays */
	while (*from) {
		size_t n = strcspn(from, "/");
		if (n == 2 && from[0] == '.' && from[1] == '.' && (absolute || out > root)) {
			/* drops the last part; above the root there is nothing */
			if (out > root)
				out--;
			while (out > root && out[-1] != '/')
				out--;
			from += n;
		} else if (n == 0 || (n == 1 && from[0] == '.')) {
			from += n;
		} else {
			bool up = n == 2 && from[0] == '.' && from[1] == '.';
			memmove(out, from, n);
			out += n, from += n;
			if (*from)
				*out++ = '/';
			if (up)
				root = out;
		}
		from += *from == '/';
	}
	if (out > path + absolute && out[-1] == '/')
		out--;
	*out = '\0';
}

void named_source_path(struct str *out, const char *file, const char *directory)
{
	size_t n = directory ? strlen(directory) : 0, before = out->length;
	if (file[0] != '/' && n && !(strncmp(file, directory, n) == 0 && file[n] == '/'))
		str_appendf(out, "%s/", directory);
	str_append(out, file);
	if (out->text && !out->failed) {
		named_normalise_path(out->text + before);
		out->length = before + strlen(out->text + before);
	}
}

/* The one copy of a file's path. NULL of NULL. *failed: memory ran out. */
static const char *intern_file(struct naming_build *naming, const char *file, const char *directory, bool *failed)
{
	if (!file)
		return NULL;
	struct str path = {0};
	const char *kept = NULL;
	named_source_path(&path, file, directory);
	if (path.text && !path.failed)
		kept = intern(naming, path.text);
	str_free(&path);
	*failed |= !kept;
	return kept;
}

/* ---- tables ---- */

static bool add_row(struct naming_build *naming, struct named_table *table, size_t *capacity, struct named_row row)
{
	row.counts = arena_alloc(&naming->out->arena, (naming->profile->n_events + 1) * sizeof *row.counts);
	if (!row.counts || table->n >= NO_INDEX - 1 ||
	    !vec_grow((void **)&table->rows, capacity, table->n, sizeof row))
		return false;
	table->rows[table->n++] = row;
	return true;
}

/* By pointers of interned texts, which are equal where the texts are; hashed by content. */
static uint32_t function_of(struct naming_build *naming, const struct named_function *wanted)
{
	struct named_profile *out = naming->out;
	uint64_t hash = hash_text(hash_text(HASH_BEGIN, wanted->name), wanted->module);
	hash = hash_number(hash, wanted->inlined ? 1 : wanted->begins << 1);
	struct hash_search search = hash_find(&naming->functions, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		const struct named_function *f = &out->functions[i];
		if (f->name == wanted->name && f->module == wanted->module && f->inlined == wanted->inlined &&
		    (f->inlined || f->begins == wanted->begins))
			return i;
	}
	struct named_function f = *wanted;
	f.row = NO_INDEX;
	if (!f.inlined) {
		f.row = (uint32_t)out->by_function.n;
		struct named_row row = {.name = f.name, .module = f.module, .file = f.file, .line = f.line};
		if (!add_row(naming, &out->by_function, &naming->row_capacity, row))
			return NO_INDEX;
	}
	if (!vec_grow((void **)&out->functions, &naming->function_capacity, out->n_functions, sizeof f) ||
	    !hash_add(&naming->functions, hash, (uint32_t)out->n_functions))
		return NO_INDEX;
	out->functions[out->n_functions] = f;
	return (uint32_t)out->n_functions++;
}

/* The row of a frame's line; one without a line is its function's own. */
static uint32_t line_of(struct naming_build *naming, const struct named_frame *frame,
			const struct named_function *code)
{
	struct named_table *table = &naming->out->by_line;
	struct named_row row = {.module = code->module, .file = frame->file, .line = frame->line};
	row.name = frame->file ? "" : code->name;
	uint64_t hash = hash_text(hash_text(hash_text(HASH_BEGIN, row.name), row.module), row.file);
	hash = hash_number(hash, frame->file ? row.line : code->begins);
	struct hash_search search = hash_find(&naming->lines, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		const struct named_row *r = &table->rows[i];
		if (r->module == row.module && r->file == row.file && r->line == row.line &&
		    strcmp(r->name, row.name) == 0)
			return i;
	}
	if (!add_row(naming, table, &naming->line_capacity, row) ||
	    !hash_add(&naming->lines, hash, (uint32_t)table->n - 1))
		return NO_INDEX;
	return (uint32_t)table->n - 1;
}

/* ---- places ---- */

/* Once of each module: why its names are fewer than they could be. NULL: the symbols' own reason, if there is
 * one. */
static bool note_trouble(struct naming_build *naming, const char *module, const char *trouble)
{
	uint64_t hash = hash_text(HASH_BEGIN, module);
	struct hash_search search = hash_find(&naming->troubled, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(naming->modules.items[i], module) == 0)
			return true;
	if (!vec_push(&naming->modules, module) ||
	    !hash_add(&naming->troubled, hash, (uint32_t)naming->modules.count - 1))
		return false;
	if (!trouble && !(trouble = symbols_trouble(naming->symbols, module)))
		return true;
	for (size_t i = 0; i < naming->troubles.count; i++)
		if (strcmp(naming->troubles.items[i].what, trouble) == 0)
			return vec_push(&naming->troubles.items[i].modules, module);
	struct trouble_note t = {.what = trouble};
	return vec_push(&t.modules, module) && vec_push(&naming->troubles, t);
}

/* A note for each thing that is wrong, with the files that have it. */
static bool note_troubles(struct naming_build *naming)
{
	bool done = true;
	for (size_t i = 0; i < naming->troubles.count; i++) {
		const struct trouble_note *t = &naming->troubles.items[i];
		struct str text = {0};
		for (size_t j = 0; j < t->modules.count && j < MODULES_NAMED; j++)
			str_appendf(&text, "%s%s", j ? ", " : "", t->modules.items[j]);
		if (t->modules.count > MODULES_NAMED)
			str_appendf(&text, " and %zu more", t->modules.count - MODULES_NAMED);
		str_appendf(&text, ": %s", t->what);
		const char *note = text.failed ? NULL : arena_strdup(&naming->out->arena, text.text);
		done = done && note && vec_push(&naming->notes, note);
		str_free(&text);
	}
	return done;
}

static bool add_frame(struct naming_build *naming, struct named_place *place, const struct named_frame *frame)
{
	struct named_profile *out = naming->out;
	if (frame->function == NO_INDEX ||
	    !vec_grow((void **)&out->frames, &naming->frame_capacity, out->n_frames, sizeof *out->frames))
		return false;
	out->frames[out->n_frames++] = *frame;
	place->n_frames++;
	return true;
}

/* What symbol/ calls the module. */
static const char *symbol_module(const struct profile_module *module)
{
	return module->kind == MODULE_ANONYMOUS ? "" : module->path;
}

static const char *shown_module(struct naming_build *naming, const struct profile_module *module)
{
	return intern(naming, module->kind == MODULE_ANONYMOUS ? "[anonymous]" : module->path);
}

/* A place in no file that has names: its module is its function. */
static bool name_by_module(struct naming_build *naming, struct named_place *place)
{
	const char *module = shown_module(naming, &naming->profile->modules[place->module]);
	struct named_function f = {.name = module, .module = module};
	struct named_frame frame = {.function = module ? function_of(naming, &f) : NO_INDEX};
	return add_frame(naming, place, &frame);
}

bool named_is_other_file(struct symbols *symbols, const struct profile_module *m)
{
	uint8_t now[sizeof m->build_id];
	size_t n = m->kind == MODULE_FILE && m->build_id_bytes
			   ? symbols_build_id(symbols, m->path, now, sizeof now)
			   : 0;
	return n && (n != m->build_id_bytes || memcmp(now, m->build_id, n) != 0);
}

static bool has_changed(struct naming_build *naming, uint32_t index)
{
	if (naming->changed.items[index] == 0) {
		const struct profile_module *m = &naming->profile->modules[index];
		bool other = named_is_other_file(naming->symbols, m);
		naming->changed.items[index] = other ? 2 : 1;
		if (!other && naming->small && naming->small[index])
			symbols_leave_out_lines(naming->symbols, m->path);
	}
	return naming->changed.items[index] == 2;
}

/* A function that only its module and address are known of. */
static bool name_alone(struct naming_build *naming, struct named_place *place, const char *name,
		       const char *module, uint64_t begins)
{
	struct named_function f = {
		.name = intern(naming, name), .module = intern(naming, module), .begins = begins};
	struct named_frame frame = {.function = f.name && f.module ? function_of(naming, &f) : NO_INDEX};
	return add_frame(naming, place, &frame);
}

static bool name_changed(struct naming_build *naming, struct named_place *place)
{
	const char *path = naming->profile->modules[place->module].path, *slash = strrchr(path, '/');
	char name[320];
	snprintf(name, sizeof name, "%.280s+0x%llx", slash ? slash + 1 : path, (unsigned long long)place->offset);
	return note_trouble(naming, path,
			    "it is another file now than when it was profiled (its build ID differs): "
			    "its places have no names") &&
	       name_alone(naming, place, name, path, place->offset);
}

static bool name_kernel(struct naming_build *naming, struct named_place *place)
{
	struct kernel_code code;
	const char *hint = "", *trouble;
	if (!naming->here)
		return note_trouble(naming, "[kernel]",
				    "another kernel runs here now: its functions have no names") &&
		       name_by_module(naming, place);
	if (!naming->kernel && !kernel_new(NULL, &naming->kernel, naming->err))
		return false;
	if (kernel_find(naming->kernel, place->offset, &code))
		return name_alone(naming, place, code.function, code.module, code.begins);
	if ((trouble = kernel_trouble(naming->kernel, &hint)) && !note_trouble(naming, "[kernel]", trouble))
		return false;
	return name_by_module(naming, place);
}

/* Why code that the process made has no names: its map file is missing, refused or has lines that are none. */
static bool note_jit_trouble(struct naming_build *naming, uint32_t pid, const char *trouble)
{
	char process[64];
	const char *kept;
	if (!trouble)
		return true;
	snprintf(process, sizeof process, "code that process %" PRIu32 " made as it ran", pid);
	return (kept = intern(naming, process)) && note_trouble(naming, kept, trouble);
}

static bool name_anonymous(struct naming_build *naming, struct named_place *place)
{
	uint32_t pid = naming->profile->modules[place->module].pid;
	struct jit_names *names;
	struct jit_code code;
	if (!naming->here || !pid)
		return name_by_module(naming, place);
	if (!(names = symbols_jit(naming->symbols, pid, naming->err)))
		return false;
	if (jit_find(names, place->offset, &code))
		return name_alone(naming, place, code.name, "[jit]", code.begins);
	return note_jit_trouble(naming, pid, jit_trouble(names)) && name_by_module(naming, place);
}

static bool name_code(struct naming_build *naming, struct named_place *place)
{
	const struct profile_module *m = &naming->profile->modules[place->module];
	const char *path = symbol_module(m);
	const struct symbol_code *code = symbols_code(naming->symbols, path, place->offset, naming->err);
	const struct symbol_code *start = code ? symbols_code(naming->symbols, path, code->begins, naming->err)
					       : NULL;
	struct symbol_frame levels[INLINED_MOST];
	const char *directory = NULL;
	bool failed = false;
	if (!start || (!code->linked_name && m->kind == MODULE_FILE && !note_trouble(naming, m->path, NULL)))
		return false;
	size_t n = code->file ? symbols_inlined(naming->symbols, path, place->offset, levels, INLINED_MOST) : 0;
	if (n == 0 || n > INLINED_MOST) {
		n = 1;
		levels[0] = (struct symbol_frame){.file = code->file, .line = code->line};
	}
	if (code->file)
		directory = symbols_directory(naming->symbols, path, place->offset);
	levels[n - 1].function = code->function; /* of the machine code the symbol's name, as elsewhere */
	for (size_t i = 0; i < n && !failed; i++) {
		bool inlined = i + 1 < n;
		struct named_function f = {.name = intern(naming, levels[i].function),
					   .module = shown_module(naming, m),
					   .begins = inlined ? 0 : code->begins,
					   .inlined = inlined};
		struct named_frame frame = {.file = intern_file(naming, levels[i].file, directory, &failed),
					    .line = levels[i].file ? levels[i].line : 0};
		if (!inlined) {
			/* the file in which the function begins, whatever was inlined there */
			struct symbol_frame first[INLINED_MOST];
			size_t depth = symbols_inlined(naming->symbols, path, code->begins, first, INLINED_MOST);
			bool deep = depth > 1 && depth <= INLINED_MOST && first[depth - 1].file;
			f.file = intern_file(naming, deep ? first[depth - 1].file : start->file, directory,
					     &failed);
			f.line = deep ? first[depth - 1].line : start->line;
		}
		failed |= !f.name || !f.module;
		frame.function = failed ? NO_INDEX : function_of(naming, &f);
		failed = failed || !add_frame(naming, place, &frame);
	}
	return !failed;
}

static bool name_place(struct naming_build *naming, struct named_place *place)
{
	switch (naming->profile->modules[place->module].kind) {
	case MODULE_FILE:
		return has_changed(naming, place->module) ? name_changed(naming, place) : name_code(naming, place);
	case MODULE_VDSO: return name_code(naming, place);
	case MODULE_KERNEL: return name_kernel(naming, place);
	case MODULE_ANONYMOUS: return name_anonymous(naming, place);
	case MODULE_UNKNOWN: break;
	}
	return name_by_module(naming, place);
}

static bool name_rows(struct naming_build *naming, const struct named_place *place)
{
	struct named_profile *out = naming->out;
	const struct named_frame *last = &out->frames[place->first_frame + place->n_frames - 1];
	const struct named_function code = out->functions[last->function];
	const bool left_out = naming->small && naming->small[place->module];
	out->by_function.rows[code.row].lines_left_out = left_out;
	for (uint32_t level = 0; level < place->n_frames; level++) {
		struct named_frame *frame = &out->frames[place->first_frame + level];
		if ((frame->line_row = line_of(naming, frame, &code)) == NO_INDEX)
			return false;
		out->by_line.rows[frame->line_row].lines_left_out = left_out;
	}
	return true;
}

static void remember_code(struct naming_build *naming, const struct named_place *place)
{
	const struct profile_module *m = &naming->profile->modules[place->module];
	const struct named_frame *frame = &naming->out->frames[place->first_frame];
	bool named = m->kind == MODULE_VDSO || (m->kind == MODULE_FILE && !has_changed(naming, place->module));
	naming->code = NULL;
	if (!named || place->n_frames != 1 || frame->file)
		return;
	naming->code = symbols_code(naming->symbols, symbol_module(m), place->offset, naming->err);
	naming->code_module = place->module;
	naming->frame = *frame;
}

static bool has_code_of_before(struct naming_build *naming, const struct named_place *place)
{
	return naming->code && place->module == naming->code_module &&
	       naming->code == symbols_code(naming->symbols,
					    symbol_module(&naming->profile->modules[place->module]), place->offset,
					    naming->err);
}

/* The index of a place; NO_INDEX when memory ran out. */
static uint32_t place_of(struct naming_build *naming, uint32_t module, uint64_t offset)
{
	struct named_profile *out = naming->out;
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, module), offset);
	struct hash_search search = hash_find(&naming->places, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (out->places[i].module == module && out->places[i].offset == offset)
			return i;
	struct named_place place = {.module = module, .offset = offset, .first_frame = (uint32_t)out->n_frames};
	if (has_code_of_before(naming, &place)) {
		if (!add_frame(naming, &place, &naming->frame))
			return NO_INDEX;
	} else {
		if (!name_place(naming, &place) || !name_rows(naming, &place))
			return NO_INDEX;
		remember_code(naming, &place);
	}
	if (out->n_places >= NO_INDEX - 1 ||
	    !vec_grow((void **)&out->places, &naming->place_capacity, out->n_places, sizeof place) ||
	    !hash_add(&naming->places, hash, (uint32_t)out->n_places))
		return NO_INDEX;
	out->places[out->n_places] = place;
	return (uint32_t)out->n_places++;
}

static bool name_places(struct naming_build *naming)
{
	const struct profile *p = naming->profile;
	naming->out->place_of_node = arena_alloc(&naming->out->arena, (p->n_nodes + 1) * sizeof(uint32_t));
	if (!naming->out->place_of_node)
		return false;
	for (size_t i = 0; i < p->n_nodes; i++) {
		uint32_t place = i ? place_of(naming, p->nodes[i].module, p->nodes[i].offset) : NO_INDEX;
		if (i && place == NO_INDEX)
			return false;
		naming->out->place_of_node[i] = place;
	}
	return true;
}

static uint32_t machine_row(const struct named_profile *n, uint32_t place)
{
	const struct named_place *p = &n->places[place];
	return n->functions[n->frames[p->first_frame + p->n_frames - 1].function].row;
}

static bool name_arcs(struct naming_build *naming)
{
	const struct profile *p = naming->profile;
	struct named_profile *out = naming->out;
	if (!(out->arcs = arena_alloc(&out->arena, (p->n_arcs + 1) * sizeof *out->arcs)))
		return false;
	for (size_t i = 0; i < p->n_arcs; i++) {
		const struct profile_arc *from = &p->arcs[i];
		struct named_arc arc = {NO_INDEX, NO_INDEX, NO_INDEX, from->calls, from->inclusive};
		uint32_t callee = place_of(naming, from->callee_module, from->callee_offset);
		if (callee == NO_INDEX)
			return false;
		arc.callee = machine_row(out, callee);
		if (from->caller_module != PROFILE_NO_CALLER) {
			arc.place = place_of(naming, from->caller_module, from->caller_offset);
			if (arc.place == NO_INDEX)
				return false;
			arc.caller = machine_row(out, arc.place);
		}
		out->arcs[out->n_arcs++] = arc;
	}
	return true;
}

/* ---- counts ---- */

static void add_saturated(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static uint32_t leaf_line(const struct named_profile *n, uint32_t place)
{
	return n->frames[n->places[place].first_frame].line_row;
}

/* Each row of the stack once: seen[row] is the last cell that was added to it. */
static void add_once(struct named_row *rows, uint32_t row, uint32_t *seen, uint32_t stamp, uint32_t event,
		     uint64_t count)
{
	if (seen[row] == stamp)
		return;
	seen[row] = stamp;
	add_saturated(&rows[row].counts[event].inclusive, count);
}

static bool sum_up(struct naming_build *naming)
{
	const struct profile *p = naming->profile;
	struct named_profile *out = naming->out;
	bool done = false;
	uint32_t *functions = calloc(out->by_function.n + 1, sizeof *functions),
		 *lines = calloc(out->by_line.n + 1, sizeof *lines);
	if (!functions || !lines || !(out->sums = arena_alloc(&out->arena, (p->n_events + 1) * sizeof *out->sums)))
		goto out;
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		uint32_t leaf = out->place_of_node[c->node], stamp = (uint32_t)i + 1;
		if (leaf == NO_INDEX)
			continue; /* the root has no place: no profile has cells of it */
		add_saturated(&out->sums[c->event], c->count);
		add_saturated(&out->by_function.rows[machine_row(out, leaf)].counts[c->event].self, c->count);
		add_saturated(&out->by_line.rows[leaf_line(out, leaf)].counts[c->event].self, c->count);
		for (uint32_t node = c->node; node; node = p->nodes[node].parent) {
			const struct named_place *place = &out->places[out->place_of_node[node]];
			add_once(out->by_function.rows, machine_row(out, out->place_of_node[node]), functions,
				 stamp, c->event, c->count);
			for (uint32_t level = 0; level < place->n_frames; level++)
				add_once(out->by_line.rows, out->frames[place->first_frame + level].line_row,
					 lines, stamp, c->event, c->count);
			out->has_inclusive |= p->nodes[node].parent != 0;
		}
	}
	done = named_add_arcs(out, p);
out:
	free(functions);
	free(lines);
	return done;
}

/* ---- all together ---- */

static bool keep(struct arena *arena, void **items, size_t bytes)
{
	void *kept = arena_alloc(arena, bytes + 1);
	if (kept && bytes)
		memcpy(kept, *items, bytes);
	free(*items);
	*items = kept;
	return kept != NULL;
}

/* Arrays that grew become the arena's, also after a failure, when they are freed with it. */
static bool settle(struct naming_build *naming)
{
	struct named_profile *n = naming->out;
	bool done = keep(&n->arena, (void **)&n->functions, n->n_functions * sizeof *n->functions);
	done &= keep(&n->arena, (void **)&n->frames, n->n_frames * sizeof *n->frames);
	done &= keep(&n->arena, (void **)&n->places, n->n_places * sizeof *n->places);
	done &= keep(&n->arena, (void **)&n->by_function.rows, n->by_function.n * sizeof *n->by_function.rows);
	done &= keep(&n->arena, (void **)&n->by_line.rows, n->by_line.n * sizeof *n->by_line.rows);
	n->n_notes = naming->notes.count;
	done &= keep(&n->arena, (void **)&naming->notes.items, naming->notes.count * sizeof *n->notes);
	n->notes = naming->notes.items;
	naming->notes.items = NULL;
	return done;
}

bool named_profile_new(const struct profile *profile, struct symbols *symbols, const struct named_options *options,
		       struct named_profile **out, struct error *err)
{
	struct naming_build naming = {
		.profile = profile, .symbols = symbols, .err = err, .here = options && options->here};
	naming.out = *out = calloc(1, sizeof **out);
	if (!naming.out)
		return error_no_memory(err);
	naming.out->profile = profile;
	naming.changed.items = calloc(profile->n_modules + 1, 1);
	bool done = naming.changed.items &&
		    (!options || !(options->lines_from_share > 0) ||
		     small_modules(profile, options->lines_from_share, &naming.small)) &&
		    name_places(&naming) && name_arcs(&naming) && note_troubles(&naming) && sum_up(&naming);
	done &= settle(&naming);
	hash_free(&naming.places);
	hash_free(&naming.functions);
	hash_free(&naming.texts);
	hash_free(&naming.lines);
	hash_free(&naming.troubled);
	vec_free(&naming.strings);
	vec_free(&naming.modules);
	for (size_t i = 0; i < naming.troubles.count; i++)
		vec_free(&naming.troubles.items[i].modules);
	vec_free(&naming.troubles);
	vec_free(&naming.changed);
	free(naming.small);
	if (naming.kernel)
		kernel_free(naming.kernel);
	if (done)
		return true;
	named_profile_free(naming.out);
	free(naming.out);
	*out = NULL;
	return error_no_memory(err);
}

/*
 * callgrind's format (Valgrind manual, "Callgrind Format Specification"), which KCachegrind and
 * callgrind_annotate read: of each function its lines with their own counts, and its calls with what took place
 * in them.
 *
 * What always holds:
 *  1. The lines' own counts add up to `summary` and `totals`. Samples are written as samples.
 *  2. What was inlined is in the machine code's function, at its own file (fi=, fe=) and line.
 *  3. A call's count is what was in it: of each stack once, also where the stack has the call several times.
 *  4. Of stacks calls=1 is any number: nobody counted how often it was called, and with calls=0 callgrind_annotate
 *     takes the count as the caller's own. An exact call graph's arcs have their numbers of calls. A file without
 *     either has no calls.
 *  5. Positions are lines, relative to the line before; names are compressed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "report/export.h"
#include "report/export_names.h"
#include "report/profile_rows.h"

#define OWN UINT32_MAX

struct cost_row {                  /* what took place in a line of a function, or in a call from there */
	uint32_t function, callee; /* callee OWN: its own */
	const char *file;
	unsigned line;
	uint32_t number; /* in counts; qsort moves rows */
	uint64_t calls;  /* of arcs; 0: not counted */
};

struct short_names {
	struct hash_index index;
	VEC(const char *) names;
};

struct callgrind_file {
	FILE *out;
	const struct named_profile *named;
	uint32_t *events; /* those with cells, or that could have */
	size_t n_events;
	VEC(struct cost_row) rows;
	struct hash_index index;
	uint64_t *counts;       /* [rows × n_events] */
	uint32_t *own, *called; /* [n_nodes]: rows; called: of the call to it, OWN: none */
	uint32_t *arcs;         /* [n_arcs]: rows; OWN: it has no caller */
	struct short_names objects, files, functions;
	unsigned line; /* written last */
	bool failed;
};

/* ---- counts ---- */

static const struct named_frame *innermost(const struct named_profile *n, uint32_t place)
{
	return &n->frames[n->places[place].first_frame];
}

static uint32_t machine_function(const struct named_profile *n, uint32_t place)
{
	const struct named_place *p = &n->places[place];
	return n->frames[p->first_frame + p->n_frames - 1].function;
}

static int compare_files(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

/* The row of a place's line and a callee; OWN when memory ran out. */
static uint32_t row_of(struct callgrind_file *c, uint32_t place, uint32_t callee)
{
	const struct named_frame *frame = innermost(c->named, place);
	uint32_t function = machine_function(c->named, place);
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, function), callee);
	hash = hash_number(hash_text(hash, frame->file), frame->line);
	struct hash_search search = hash_find(&c->index, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		const struct cost_row *row = &c->rows.items[i];
		if (row->function == function && row->callee == callee && row->line == frame->line &&
		    compare_files(row->file, frame->file) == 0)
			return i;
	}
	const struct cost_row row = {function, callee, frame->file, frame->line, (uint32_t)c->rows.count, 0};
	return vec_push(&c->rows, row) && hash_add(&c->index, hash, row.number) ? row.number : OWN;
}

static bool find_arcs(struct callgrind_file *c)
{
	const struct named_profile *n = c->named;
	uint32_t *functions = calloc(n->by_function.n + 1, sizeof *functions); /* by row */
	c->arcs = calloc(n->n_arcs + 1, sizeof *c->arcs);
	bool done = functions && c->arcs;
	for (uint32_t i = 0; done && i < n->n_functions; i++)
		if (!n->functions[i].inlined)
			functions[n->functions[i].row] = i;
	for (size_t i = 0; done && i < n->n_arcs; i++) {
		const struct named_arc *arc = &n->arcs[i];
		c->arcs[i] = OWN;
		if (arc->place == OWN)
			continue;
		done = (c->arcs[i] = row_of(c, arc->place, functions[arc->callee])) != OWN;
		if (done)
			c->rows.items[c->arcs[i]].calls += arc->calls;
	}
	free(functions);
	return done;
}

static bool find_rows(struct callgrind_file *c)
{
	const struct profile *p = c->named->profile;
	const uint32_t *place = c->named->place_of_node;
	c->own = calloc(p->n_nodes + 1, sizeof *c->own);
	c->called = calloc(p->n_nodes + 1, sizeof *c->called);
	bool done = c->own && c->called;
	for (uint32_t i = 1; done && i < p->n_nodes; i++) {
		uint32_t parent = p->nodes[i].parent;
		c->called[i] = OWN;
		done = (c->own[i] = row_of(c, place[i], OWN)) != OWN;
		if (done && parent)
			done = (c->called[i] = row_of(c, place[parent], machine_function(c->named, place[i]))) !=
			       OWN;
	}
	return done && find_arcs(c);
}

static void add(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static bool add_counts(struct callgrind_file *c)
{
	const struct profile *p = c->named->profile;
	uint32_t *column = calloc(p->n_events + 1, sizeof *column);
	uint32_t *seen = calloc(c->rows.count + 1, sizeof *seen); /* the last cell that a row has */
	c->counts = calloc(c->rows.count * c->n_events + 1, sizeof *c->counts);
	bool done = column && seen && c->counts;
	for (size_t i = 0; done && i < p->n_events; i++)
		column[i] = OWN;
	for (size_t i = 0; done && i < c->n_events; i++)
		column[c->events[i]] = (uint32_t)i;
	for (size_t i = 0; done && i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		if (!cell->node || column[cell->event] == OWN)
			continue;
		add(&c->counts[c->own[cell->node] * c->n_events + column[cell->event]], cell->count);
		for (uint32_t node = cell->node; node; node = p->nodes[node].parent) {
			uint32_t row = c->called[node];
			if (row == OWN || seen[row] == i + 1)
				continue;
			seen[row] = (uint32_t)i + 1;
			add(&c->counts[row * c->n_events + column[cell->event]], cell->count);
		}
	}
	for (size_t i = 0; done && i < c->named->n_arcs; i++)
		for (size_t e = 0; c->arcs[i] != OWN && e < c->n_events; e++)
			add(&c->counts[c->arcs[i] * c->n_events + e], c->named->arcs[i].inclusive[c->events[e]]);
	free(column);
	free(seen);
	return done;
}

static int by_function(const void *a, const void *b)
{
	const struct cost_row *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	int files = compare_files(x->file, y->file);
	if (files)
		return files;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee == OWN || (y->callee != OWN && x->callee < y->callee) ? -1 : 1;
	return 0;
}

/* ---- the file ---- */

/* "fn=(3) name" the first time, then "fn=(3)". */
static void put_name(struct callgrind_file *c, struct short_names *names, const char *key, const char *name)
{
	uint64_t hash = hash_text(HASH_BEGIN, name);
	struct hash_search search = hash_find(&names->index, hash);
	struct str text = {0};
	fprintf(c->out, "%s=", key);
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(names->names.items[i], name) == 0) {
			fprintf(c->out, "(%u)\n", i + 1);
			return;
		}
	if (!vec_push(&names->names, name) || !hash_add(&names->index, hash, (uint32_t)names->names.count - 1))
		c->failed = true;
	profile_append_escaped(&text, name);
	fprintf(c->out, "(%zu) %s\n", names->names.count, text.text ? text.text : "");
	c->failed |= text.failed;
	str_free(&text);
}

static const char *file_name(const char *file) { return file ? file : "???"; }

static void put_line(struct callgrind_file *c, unsigned line)
{
	if (line == c->line)
		fputc('*', c->out);
	else
		fprintf(c->out, line > c->line ? "+%u" : "-%u", line > c->line ? line - c->line : c->line - line);
	c->line = line;
}

static void put_counts(struct callgrind_file *c, const struct cost_row *row)
{
	put_line(c, row->line);
	for (size_t e = 0; e < c->n_events; e++)
		fprintf(c->out, " %" PRIu64, c->counts[row->number * c->n_events + e]);
	fputc('\n', c->out);
}

static bool is_empty(const struct callgrind_file *c, const struct cost_row *row)
{
	for (size_t e = 0; e < c->n_events; e++)
		if (c->counts[row->number * c->n_events + e])
			return false;
	return row->calls == 0;
}

static void put_call(struct callgrind_file *c, const struct cost_row *row)
{
	const struct named_function *callee = &c->named->functions[row->callee];
	put_name(c, &c->objects, "cob", callee->module);
	put_name(c, &c->files, "cfi", file_name(callee->file));
	put_name(c, &c->functions, "cfn", callee->name[0] ? callee->name : "[unknown]");
	fprintf(c->out, "calls=%" PRIu64 " %u\n", row->calls ? row->calls : 1, callee->line);
	put_counts(c, row);
}

static void write_rows(struct callgrind_file *c)
{
	uint32_t function = OWN;
	const char *file = NULL;
	for (size_t i = 0; i < c->rows.count; i++) {
		const struct cost_row *row = &c->rows.items[i];
		const struct named_function *f = &c->named->functions[row->function];
		if (is_empty(c, row))
			continue;
		if (row->function != function) {
			fputc('\n', c->out);
			put_name(c, &c->objects, "ob", f->module);
			put_name(c, &c->files, "fl", file_name(f->file));
			put_name(c, &c->functions, "fn", f->name[0] ? f->name : "[unknown]");
			function = row->function;
			file = f->file;
		}
		if (compare_files(row->file, file) != 0) { /* inlined from another file, or back */
			file = row->file;
			put_name(c, &c->files, compare_files(file, f->file) == 0 ? "fe" : "fi", file_name(file));
		}
		if (row->callee == OWN)
			put_counts(c, row);
		else
			put_call(c, row);
	}
}

/* A name is letters and digits there: "l1d-misses:u" is l1dMissesU. */
static char *event_name(const char *label, size_t number)
{
	struct str name = {0};
	bool capital = false;
	for (const char *at = label; *at; at++) {
		bool lower = *at >= 'a' && *at <= 'z', digit = *at >= '0' && *at <= '9';
		if (!lower && !digit && !(*at >= 'A' && *at <= 'Z')) {
			capital = name.length > 0;
			continue;
		}
		if (digit && !name.length)
			str_append_char(&name, 'e');
		str_append_char(&name, lower && capital ? (char)(*at - 'a' + 'A') : *at);
		capital = false;
	}
	if (!name.length)
		str_appendf(&name, "event%zu", number + 1);
	return str_take(&name);
}

static bool make_event_names(const struct callgrind_file *c, char **names)
{
	for (size_t i = 0; i < c->n_events; i++) {
		if (!(names[i] = event_name(c->named->profile->events[c->events[i]].label, i)))
			return false;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(names[k], names[i]) != 0)
				continue;
			struct str other = {0};
			str_appendf(&other, "%sNumber%zu", names[i], i + 1);
			free(names[i]);
			if (!(names[i] = str_take(&other)))
				return false;
			break;
		}
	}
	return true;
}

static void put_sums(const struct callgrind_file *c, const char *key)
{
	fputs(key, c->out);
	for (size_t e = 0; e < c->n_events; e++)
		fprintf(c->out, " %" PRIu64, c->named->sums[c->events[e]]);
	fputc('\n', c->out);
}

static bool write_head(struct callgrind_file *c, char **names)
{
	const struct profile *p = c->named->profile;
	struct str text = {0};
	str_appendf(&text, "# callgrind format\nversion: 1\ncreator: tare-%s\ncmd: ",
		    p->tare_version ? p->tare_version : "");
	export_append_command(&text, p);
	for (size_t e = 0; e < c->n_events; e++) {
		str_append(&text, "\ndesc: ");
		export_append_event(&text, &p->events[c->events[e]]);
	}
	if (c->named->n_arcs)
		str_append(&text,
			   "\ndesc: of a recursion the outermost call has the count, the calls within have 0");
	else if (export_has_stacks(c->named))
		str_append(&text, "\ndesc: each calls=1 stands for any number: how often a function was called "
				  "was not counted");
	str_append(&text, "\npositions: line\n");
	for (size_t e = 0; e < c->n_events; e++) {
		str_appendf(&text, "event: %s : ", names[e]);
		profile_append_escaped(&text, p->events[c->events[e]].label);
		str_appendf(&text, " (%s)\n", p->events[c->events[e]].gaps == GAPS_NONE ? "counted" : "samples");
	}
	str_append(&text, "events:");
	for (size_t e = 0; e < c->n_events; e++)
		str_appendf(&text, " %s", names[e]);
	fputs(text.text ? text.text : "", c->out);
	fputc('\n', c->out);
	put_sums(c, "summary:");
	bool done = !text.failed;
	str_free(&text);
	return done;
}

static bool choose_events(struct callgrind_file *c)
{
	const struct profile *p = c->named->profile;
	if (!(c->events = calloc(p->n_events + 1, sizeof *c->events)))
		return false;
	for (uint32_t i = 0; i < p->n_events; i++)
		if (!p->events[i].why)
			c->events[c->n_events++] = i;
	return true;
}

static void free_names(struct short_names *names)
{
	hash_free(&names->index);
	vec_free(&names->names);
}

bool export_callgrind(FILE *out, const struct named_profile *named, const struct export_options *options,
		      struct error *err)
{
	struct callgrind_file c = {.out = out, .named = named};
	char **names = calloc(named->profile->n_events + 1, sizeof *names);
	(void)options;
	bool done = names && choose_events(&c) && make_event_names(&c, names) && find_rows(&c) && add_counts(&c);
	if (done && c.rows.count)
		qsort(c.rows.items, c.rows.count, sizeof *c.rows.items, by_function);
	if (done && (done = write_head(&c, names))) {
		write_rows(&c);
		put_sums(&c, "\ntotals:");
		done = !c.failed;
	}
	for (size_t i = 0; names && i < named->profile->n_events; i++)
		free(names[i]);
	free(names);
	free(c.events);
	free(c.counts);
	free(c.own);
	free(c.called);
	free(c.arcs);
	vec_free(&c.rows);
	hash_free(&c.index);
	free_names(&c.objects);
	free_names(&c.files);
	free_names(&c.functions);
	return done || error_no_memory(err);
}

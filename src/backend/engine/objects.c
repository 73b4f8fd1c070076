#include "backend/engine/objects.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "engine/inject/injection.h"
#include "engine/wire/objects.h"

struct object_fill {
	const struct location_plan *plan;
	const struct view *view;
	struct locations *out;
	size_t *capacity;
	const struct view_process *p;
	const struct record_objects *header;
	uint64_t cells; /* of the segments looked at: none is in two of them */
	bool no_memory;
};

static uint64_t *copy(struct object_fill *fill, uint64_t offset, uint64_t bytes, uint64_t *words)
{
	uint64_t *copied = injection_copy_words(fill->p->injection, fill->p->record->objects + offset,
						(bytes ? bytes : 8) / 8, words);
	fill->no_memory |= !copied;
	return copied;
}

/* A new location with these counts of watches; NULL: they are all 0, or memory ran out. */
static struct location *add(struct object_fill *fill, const uint64_t *watched)
{
	struct locations *out = fill->out;
	bool any = false;
	for (size_t w = 0; w < fill->plan->n_watches; w++)
		any |= watched[w] != 0;
	if (!any)
		return NULL;
	uint64_t *counts = arena_alloc(&out->arena, (out->n_events + 1) * sizeof *counts);
	if (!counts || !vec_grow((void **)&out->all, fill->capacity, out->n, sizeof *out->all)) {
		fill->no_memory = true;
		return NULL;
	}
	for (size_t i = 0; i < out->n_events; i++)
		counts[i] += location_sum(fill->plan, i, watched);
	out->all[out->n] = (struct location){.counts = counts, .module = ""};
	return &out->all[out->n++];
}

/* ---- sites ---- */

static const struct record_module *module_at(const struct view_process *p, uint64_t pc)
{
	for (uint32_t i = 0; i < p->modules.own; i++) {
		const struct record_module *m = (const struct record_module *)p->modules.entries + i;
		if (pc >= m->address && pc - m->address < m->length && m->path[0])
			return m;
	}
	return NULL;
}

static void name_frame(struct object_fill *fill, uint64_t pc, struct location_frame *out)
{
	const struct record_module *m = NULL;
	*out = (struct location_frame){.module = "", .offset = pc};
	/* any of its parts: each has what code it ran came from */
	for (const struct view_process *p = fill->p; p && !m; p = p->inherits)
		for (const struct view_process *part = p->head; part && !m; part = part->next_part)
			m = module_at(part, pc - 1); /* the call is in front of where it returns to */
	if (!m)
		return;
	char path[sizeof m->path + 1] = "";
	memcpy(path, m->path, sizeof m->path);
	const char *module = arena_strdup(&fill->out->arena, path);
	fill->no_memory |= !module;
	*out = (struct location_frame){.module = module, .offset = pc - m->address + m->file_offset};
}

static void add_site(struct object_fill *fill, const struct record_object_site *site, const uint64_t *watched)
{
	static const enum location_kind kinds[] = {
		[OBJECT_UNKNOWN] = LOCATION_UNKNOWN, [OBJECT_STACK] = LOCATION_STACK,
		[OBJECT_CODE] = LOCATION_CODE,       [OBJECT_ALLOCATOR] = LOCATION_ALLOCATOR,
		[OBJECT_OTHERS] = LOCATION_OTHERS,   [OBJECT_FIRST_SITE] = LOCATION_UNKNOWN,
		[OBJECT_HEAP] = LOCATION_HEAP,       [OBJECT_MAPPING] = LOCATION_MAPPING};
	struct location *l = add(fill, watched);
	if (!l)
		return;
	uint32_t n = site->n_frames < RECORD_OBJECT_FRAMES ? site->n_frames : RECORD_OBJECT_FRAMES;
	struct location_frame *frames = arena_alloc(&fill->out->arena, (n + 1) * sizeof *frames);
	if (!frames) {
		fill->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		name_frame(fill, site->frames[i], &frames[i]);
	l->kind = site->kind < sizeof kinds / sizeof *kinds ? kinds[site->kind] : LOCATION_UNKNOWN;
	l->frames = frames, l->n_frames = n;
	l->blocks = site->blocks, l->bytes = site->bytes;
}

static void add_sites(struct object_fill *fill)
{
	uint32_t n = fill->header->n_sites < RECORD_OBJECT_SITES ? fill->header->n_sites : RECORD_OBJECT_SITES;
	uint64_t site_words, count_words, zeros[MODEL_WATCHES] = {0}, width = fill->plan->n_watches;
	uint64_t *sites = copy(fill, fill->header->sites, (uint64_t)n * sizeof(struct record_object_site),
			       &site_words);
	uint64_t *counts = copy(fill, fill->header->site_counts, (uint64_t)n * width * 8, &count_words);
	for (uint32_t i = 0; sites && counts && i < n && !fill->no_memory; i++) {
		struct record_object_site site = {0};
		uint64_t at = (uint64_t)i * (sizeof site / 8), row[MODEL_WATCHES];
		if (at < site_words)
			memcpy(&site, sites + at,
			       site_words - at < sizeof site / 8 ? (site_words - at) * 8 : sizeof site);
		memcpy(row, zeros, sizeof row);
		for (uint64_t w = 0; w < width && i * width + w < count_words; w++)
			row[w] = counts[i * width + w];
		add_site(fill, &site, row);
	}
	free(sites);
	free(counts);
}

/* ---- static data ---- */

/* A damaged record may say that thousands of segments have the same millions of cells. */
static bool take_cells(struct object_fill *fill, uint64_t first, uint64_t n)
{
	if (n > RECORD_OBJECT_CELLS - fill->cells || first > RECORD_OBJECT_CELLS - n)
		return false;
	fill->cells += n;
	return true;
}

/* The file's mapping that a segment is, or, of zeroed memory, that it lies behind; NULL. */
static const struct record_object_segment *mapping_of(const struct record_object_segment *segments, uint32_t n,
						      const struct record_object_segment *r)
{
	const struct record_object_segment *best = NULL;
	if (r->file_offset != RECORD_OBJECT_NO_FILE)
		return r;
	for (uint32_t i = 0; i < n; i++)
		if (segments[i].file_offset != RECORD_OBJECT_NO_FILE && segments[i].start < r->start &&
		    (!best || segments[i].start > best->start) &&
		    strncmp(segments[i].path, r->path, sizeof r->path) == 0)
			best = &segments[i];
	return best;
}

/* Thread-local storage: each byte is of the module whose block it lies in. */
static void add_thread_segments(struct object_fill *fill, const struct record_object_segment *segments, uint32_t n,
				const struct record_object_segment *all)
{
	uint64_t width = fill->plan->n_watches, words;
	if (!take_cells(fill, all->first_cell, all->length))
		return;
	uint64_t *counts = copy(fill, fill->header->cell_counts + all->first_cell * width * 8,
				all->length * width * 8, &words);
	for (uint64_t cell = 0; counts && cell * width < words && !fill->no_memory; cell++) {
		const struct record_object_segment *r = NULL;
		uint64_t row[MODEL_WATCHES] = {0}, number = all->first_cell + cell;
		for (uint64_t w = 0; w < width && cell * width + w < words; w++)
			row[w] = counts[cell * width + w];
		struct location *l = add(fill, row);
		if (!l)
			continue;
		for (uint32_t i = 0; i < n && !r; i++)
			if (segments[i].elf == OBJECT_FILE_THREAD &&
			    number - segments[i].first_cell < segments[i].length)
				r = &segments[i];
		char path[sizeof all->path + 1] = "";
		memcpy(path, r ? r->path : "", r ? sizeof r->path : 1);
		l->kind = LOCATION_THREAD;
		l->module = arena_strdup(&fill->out->arena, path);
		l->beyond = number - (r ? r->first_cell : all->first_cell);
		l->bytes = 1;
		fill->no_memory |= !l->module;
	}
	free(counts);
}

static void add_segment(struct object_fill *fill, const struct record_object_segment *r,
			const struct record_object_segment *mapping)
{
	uint64_t width = fill->plan->n_watches,
		 cells = r->shift > 63 ? 1 : (r->length + (1ull << r->shift) - 1) >> r->shift, words;
	char path[sizeof r->path + 1] = "";
	if (!take_cells(fill, r->first_cell, cells))
		return;
	uint64_t *counts = copy(fill, fill->header->cell_counts + r->first_cell * width * 8, cells * width * 8,
				&words);
	memcpy(path, r->path, sizeof r->path);
	const char *module = counts && words ? arena_strdup(&fill->out->arena, path) : "";
	fill->no_memory |= !module;
	for (uint64_t cell = 0; counts && cell * width < words && !fill->no_memory; cell++) {
		uint64_t row[MODEL_WATCHES] = {0};
		for (uint64_t w = 0; w < width && cell * width + w < words; w++)
			row[w] = counts[cell * width + w];
		struct location *l = add(fill, row);
		if (!l)
			continue;
		bool whole = r->shift > 63;
		l->kind = r->elf != OBJECT_FILE_OTHER ? LOCATION_STATIC : LOCATION_MAPPING;
		l->module = module;
		l->writable = mapping && mapping->elf == OBJECT_FILE_WRITABLE;
		l->offset = mapping ? mapping->file_offset : 0;
		l->beyond = (mapping ? r->start - mapping->start : 0) + (whole ? 0 : cell << r->shift);
		l->bytes = whole ? r->length : 1ull << r->shift;
	}
	free(counts);
}

static void add_segments(struct object_fill *fill)
{
	uint32_t n = fill->header->n_segments < RECORD_OBJECT_SEGMENTS ? fill->header->n_segments
								       : RECORD_OBJECT_SEGMENTS;
	uint64_t words;
	struct record_object_segment *segments = calloc(n + 1, sizeof *segments);
	uint64_t *read = copy(fill, fill->header->segments, (uint64_t)n * sizeof *segments, &words);
	fill->no_memory |= !segments;
	if (segments && read) {
		memcpy(segments, read, words * 8);
		for (uint32_t i = 0; i < n && !fill->no_memory; i++)
			if (segments[i].elf == OBJECT_FILE_THREADS)
				add_thread_segments(fill, segments, n, &segments[i]);
			else if (segments[i].elf != OBJECT_FILE_THREAD)
				add_segment(fill, &segments[i], mapping_of(segments, n, &segments[i]));
	}
	free(read);
	free(segments);
}

/* ---- all ---- */

static int compare(const void *a, const void *b)
{
	const struct location *x = a, *y = b;
	int order = x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->module, y->module);
	if (order == 0 && x->offset != y->offset)
		order = x->offset < y->offset ? -1 : 1;
	if (order == 0 && x->beyond != y->beyond)
		order = x->beyond < y->beyond ? -1 : 1;
	if (order == 0 && x->writable != y->writable)
		order = x->writable ? 1 : -1;
	if (order == 0 && x->n_frames != y->n_frames)
		order = x->n_frames < y->n_frames ? -1 : 1;
	for (size_t i = 0; order == 0 && i < x->n_frames; i++) {
		if (x->frames[i].offset != y->frames[i].offset)
			order = x->frames[i].offset < y->frames[i].offset ? -1 : 1;
		else
			order = strcmp(x->frames[i].module, y->frames[i].module);
	}
	return order;
}

static void merge(struct locations *out)
{
	size_t n = 0;
	if (out->n)
		qsort(out->all, out->n, sizeof *out->all, compare);
	for (size_t i = 0; i < out->n; i++) {
		struct location *l = n ? &out->all[n - 1] : NULL;
		if (!l || compare(l, &out->all[i]) != 0) {
			out->all[n++] = out->all[i];
			continue;
		}
		for (size_t e = 0; e < out->n_events; e++)
			l->counts[e] += out->all[i].counts[e];
		if (l->kind == LOCATION_HEAP || (l->kind == LOCATION_MAPPING && l->n_frames))
			l->blocks += out->all[i].blocks, l->bytes += out->all[i].bytes;
	}
	out->n = n;
}

/* ---- what was not seen ---- */

enum { NOTES_MOST = 8 };

__attribute__((format(printf, 2, 3))) static void note(struct object_fill *fill, const char *format, ...)
{
	struct locations *out = fill->out;
	char text[640];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (size_t i = 0; i < out->n_notes; i++)
		if (strcmp(out->notes[i], text) == 0)
			return;
	if (!out->notes && !(out->notes = arena_alloc(&out->arena, NOTES_MOST * sizeof *out->notes)))
		fill->no_memory = true;
	else if (out->n_notes < NOTES_MOST && !(out->notes[out->n_notes++] = arena_strdup(&out->arena, text)))
		fill->no_memory = true;
}

/* from: where the process's locations begin */
static void add_notes(struct object_fill *fill, size_t from)
{
	const char *program = "a program";
	bool heap = false;
	char path[sizeof((struct record_module *)0)->path + 1] = "";
	for (size_t i = from; i < fill->out->n; i++) {
		const struct location *l = &fill->out->all[i];
		heap |= l->kind == LOCATION_ALLOCATOR || (l->kind == LOCATION_MAPPING && l->n_frames);
	}
	for (const struct view_process *p = fill->p; p; p = p->inherits)
		if (p->modules.own) {
			memcpy(path, ((const struct record_module *)p->modules.entries)->path, sizeof path - 1);
			program = path;
		}
	if (fill->header->incomplete)
		note(fill, "too many data objects to track: accesses to later ones are [unknown]");
	if (!fill->header->functions && heap)
		note(fill,
		     "allocations of %s are not known: neither it nor its libraries have the symbol malloc, so "
		     "its heap is one object and each mapping another",
		     program);
	if (fill->header->unseen)
		note(fill,
		     "%u blocks of posix_memalign() in %s are not known: it does not store their address itself",
		     fill->header->unseen, program);
}

bool objects_add(const struct location_plan *plan, const struct view *view, bool children, struct locations *out,
		 size_t *capacity)
{
	struct object_fill fill = {.plan = plan, .view = view, .out = out, .capacity = capacity};
	for (size_t i = 0; i < view->n_processes && !fill.no_memory; i++) {
		fill.p = &view->processes[i];
		if (fill.p->record->state == RECORD_FREE || !fill.p->record->objects ||
		    (!children && fill.p->descendant))
			continue;
		struct record_objects header = {0}, expected = {0};
		uint64_t words, *read = copy(&fill, 0, sizeof header, &words);
		if (!read)
			break;
		memcpy(&header, read, words * 8 < sizeof header ? words * 8 : sizeof header);
		free(read);
		record_objects_lay_out(&expected, (uint32_t)plan->n_watches);
		/* a damaged one adds nothing: the sum tells */
		if (header.n_watches != plan->n_watches || header.sites != expected.sites ||
		    header.segments != expected.segments || header.site_counts != expected.site_counts ||
		    header.cell_counts != expected.cell_counts)
			continue;
		fill.header = &header, fill.cells = 0;
		size_t from = out->n;
		add_sites(&fill);
		add_segments(&fill);
		add_notes(&fill, from);
	}
	if (!fill.no_memory)
		merge(out);
	return !fill.no_memory;
}

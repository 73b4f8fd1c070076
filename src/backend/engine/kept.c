/*
 * What always holds: of a run's record, which its programs could write to, only places of blocks are taken, as
 * hints; what becomes of them is made from the files, by a process of tare's own (engine/runtime/kept/make.c).
 */
#include "backend/engine/kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/engine/trial.h"
#include "base/vec.h"
#include "engine/inject/injection.h"
#include "engine/inject/kept.h"
#include "engine/wire/kept.h"
#include "store/cache/cache.h"

/* A run that executed less that is new is not worth another translation: one block in so many. */
#define NEW_SHARE 16

void kept_open(struct kept_use *kept, const char *folder, const char *argv0)
{
	struct error err = {0};
	*kept = (struct kept_use){.folder = folder ? strdup(folder) : cache_folder(&err), .fd = -1};
	if (!kept->folder)
		return;
	char *real = strchr(argv0, '/') ? realpath(argv0, NULL) : NULL;
	kept->program = real ? real : strdup(argv0);
	kept->maker = injection_engine_sum();
	if (!kept->program || strlen(kept->program) >= CACHE_PROGRAM_BYTES) { /* it would be made for nothing */
		kept_close(kept);
		return;
	}
	kept->fd = cache_open(kept->folder, kept->program, kept->maker, &kept->bytes, &kept->sum);
}

void kept_close(struct kept_use *kept)
{
	if (kept->folder && kept->fd >= 0)
		close(kept->fd);
	free(kept->folder);
	free(kept->program);
	*kept = (struct kept_use){0};
}

static bool is_right(const void *context, const void *bytes, size_t n)
{
	const struct kept_use *kept = context;
	return cache_sum(bytes, n) == kept->sum && kept_sound(bytes, n);
}

void kept_offer(const struct kept_use *kept, struct injection_options *options)
{
	options->kept_fd = kept->fd;
	options->kept_bytes = kept->bytes;
	options->kept_right = is_right;
	options->kept_context = kept;
}

/* ---- hints ---- */

struct module_hints {
	struct kept_module module;
	VEC(struct kept_hint) hints;
};

struct hinting {
	const struct view *view;
	VEC(struct module_hints) modules;
	/* by process of the view, of those that are taken: by own block, module << 32 | hint, plus one; 0 */
	uint64_t **place;
	const struct view_process **chosen; /* images, one of each program */
	size_t n_chosen;
	bool failed;
};

static const struct kept_piece *next_piece(const void *pieces, size_t bytes, size_t *at)
{
	if (*at >= bytes)
		return NULL;
	const struct kept_piece *p = (const struct kept_piece *)(const void *)((const char *)pieces + *at);
	*at += p->bytes;
	return p;
}

static size_t module_index(struct hinting *h, const char *exe, const struct record_module *m)
{
	struct module_hints fresh = {
		.module = {.address = m->address, .length = m->length, .file_offset = m->file_offset}};
	struct stat st;
	for (size_t i = 0; i < h->modules.count; i++) {
		const struct kept_module *k = &h->modules.items[i].module;
		if (k->address == m->address && k->length == m->length && k->file_offset == m->file_offset &&
		    !strncmp(k->path, m->path, sizeof k->path) && !strcmp(k->exe, exe))
			return i;
	}
	if (m->path[0] != '/' || strnlen(m->path, sizeof m->path) >= sizeof fresh.module.path ||
	    strlen(exe) >= sizeof fresh.module.exe || h->modules.count == KEPT_MODULES_MOST || !m->length ||
	    m->length > UINT32_MAX || m->address % 4096 || m->file_offset % 4096)
		return SIZE_MAX;
	memcpy(fresh.module.path, m->path, strlen(m->path) + 1);
	memcpy(fresh.module.exe, exe, strlen(exe) + 1);
	if (stat(fresh.module.path, &st) != 0 || !S_ISREG(st.st_mode))
		return SIZE_MAX;
	h->failed |= !vec_push(&h->modules, fresh);
	return h->failed ? SIZE_MAX : h->modules.count - 1;
}

static uint64_t place_of(const struct hinting *h, const struct view_process *p, uint32_t number)
{
	const struct view_process *owner = view_block_owner(p, number);
	const uint64_t *all = owner ? h->place[owner->index] : NULL;
	return all && number >= owner->blocks.inherited ? all[number - owner->blocks.inherited] : 0;
}

static void take_blocks(struct hinting *h, const struct view_process *p, const char *exe)
{
	uint64_t *place = calloc(p->blocks.own + 1u, sizeof *place);
	const struct record_module *last = NULL;
	size_t module = SIZE_MAX;
	h->place[p->index] = place;
	h->failed |= !place;
	for (uint32_t n = 0; n < p->blocks.own && !h->failed; n++) {
		const struct record_block *b = view_block(p, p->blocks.inherited + n);
		const struct record_module *m = b ? view_module(p, b) : NULL;
		if (!m || b->address < m->address || b->address - m->address >= m->length ||
		    b->flags >> RECORD_BLOCK_CONTEXT_SHIFT)
			continue;
		if (m != last)
			module = module_index(h, exe, m), last = m;
		if (module == SIZE_MAX)
			continue;
		struct module_hints *to = &h->modules.items[module];
		struct kept_hint hint = {.offset = (uint32_t)(b->address - m->address),
					 .follows = KEPT_NONE,
					 .falls = (b->flags & RECORD_BLOCK_COUNTS_FALL) != 0};
		if (b->flags & RECORD_BLOCK_FOLLOWS) {
			uint64_t parent = place_of(h, p, b->counter);
			if (!parent || (parent - 1) >> 32 != module)
				continue;
			hint.follows = (uint32_t)(parent - 1);
		}
		h->failed |= !vec_push(&to->hints, hint);
		place[n] = ((uint64_t)module << 32 | (to->hints.count - 1)) + 1;
	}
}

static bool is_image(const struct view_process *p)
{
	return p->root == p && p->head == p && p->loaded && !p->folded && p->path[0] && p->blocks.own;
}

static int by_program(const void *a, const void *b)
{
	const struct view_process *x = *(const struct view_process *const *)a,
				  *y = *(const struct view_process *const *)b;
	int order = strcmp(x->path, y->path);
	if (order == 0 && x->blocks.own != y->blocks.own)
		order = x->blocks.own > y->blocks.own ? -1 : 1;
	return order ? order : (x > y) - (x < y);
}

/* Of several images of one program, the one that has executed most. */
static bool choose(struct hinting *h)
{
	const struct view *view = h->view;
	h->chosen = calloc(view->n_processes + 1, sizeof *h->chosen);
	if (!h->chosen)
		return false;
	for (size_t i = 0; i < view->n_processes; i++)
		if (is_image(&view->processes[i]))
			h->chosen[h->n_chosen++] = &view->processes[i];
	qsort(h->chosen, h->n_chosen, sizeof *h->chosen, by_program);
	size_t n = 0;
	for (size_t i = 0; i < h->n_chosen; i++)
		if (n == 0 || strcmp(h->chosen[n - 1]->path, h->chosen[i]->path) != 0)
			h->chosen[n++] = h->chosen[i];
	h->n_chosen = n;
	return true;
}

static void take_all(struct hinting *h)
{
	for (size_t i = 0; i < h->n_chosen; i++)
		for (const struct view_process *kin = h->chosen[i]; kin; kin = kin->next_kin)
			if (kin->loaded && !kin->folded)
				take_blocks(h, kin, h->chosen[i]->path);
}

/* Was enough executed that was not kept? */
static bool is_new(const struct kept_use *kept, const struct hinting *h)
{
	uint64_t all = 0, used = 0;
	for (size_t i = 0; i < h->n_chosen; i++) {
		all += h->chosen[i]->blocks.own;
		used += h->chosen[i]->record->stats[RECORD_STAT_KEPT_BLOCKS];
	}
	/* without a file what was used has been made in this run (kept_share) */
	return kept->fd < 0 || used > all || (all - used) * NEW_SHARE > all;
}

static void forget_places(struct hinting *h)
{
	for (size_t i = 0; h->place && i < h->view->n_processes; i++)
		free(h->place[i]);
	free(h->place);
	h->place = NULL;
}

static void forget_hints(struct hinting *h)
{
	free(h->chosen);
	for (size_t i = 0; i < h->modules.count; i++)
		vec_free(&h->modules.items[i].hints);
	vec_free(&h->modules);
}

/* ---- pieces ---- */

/* In a process of tare's own. NULL: there are none. */
static void *make(const struct hinting *h, size_t *bytes)
{
	struct injection_options options = {.size = sizeof options, .alone = true};
	struct injection *injection = NULL;
	struct error err = {0};
	VEC(struct kept_module) modules = {0};
	VEC(struct kept_hint) hints = {0};
	void *made = NULL;
	bool done = true;
	for (size_t i = 0; done && i < h->modules.count; i++) {
		struct module_hints *from = &h->modules.items[i];
		from->module.first = (uint32_t)hints.count;
		from->module.n = (uint32_t)from->hints.count;
		done = vec_push(&modules, from->module);
		for (size_t k = 0; done && k < from->hints.count; k++)
			done = vec_push(&hints, from->hints.items[k]);
	}
	options.make = modules.items, options.make_modules = modules.count;
	options.make_hints = hints.items, options.make_hint_count = hints.count;
	if (done && hints.count && trial_execute(&options, 0, &injection, &err))
		made = injection_made(injection, bytes);
	injection_free(injection);
	vec_free(&modules);
	vec_free(&hints);
	return made;
}

static bool is_hinted(const struct hinting *h, const char *exe)
{
	for (size_t i = 0; i < h->modules.count; i++)
		if (!strcmp(h->modules.items[i].module.exe, exe))
			return true;
	return false;
}

/* What is kept of programs that this run has not executed stays. */
static void write_file(const struct kept_use *kept, const struct hinting *h, const void *made, size_t bytes)
{
	size_t at = 0, n = bytes, n_old;
	void *old = cache_read(kept->folder, kept->program, kept->maker, &n_old);
	if (old && !kept_sound(old, n_old))
		n_old = 0;
	char *all = malloc(bytes + n_old);
	if (!all) {
		free(old);
		return;
	}
	memcpy(all, made, bytes);
	for (const struct kept_piece *p; (p = next_piece(old, n_old, &at));)
		if (!is_hinted(h, p->exe) && n + p->bytes <= CACHE_ENTRY_MOST_BYTES) {
			memcpy(all + n, p, p->bytes);
			n += p->bytes;
		}
	if (kept_sound(all, n))
		cache_write(kept->folder, kept->program, kept->maker, all, n);
	free(all);
	free(old);
}

void kept_update(const struct kept_use *kept, const struct view *view)
{
	struct hinting h = {.view = view};
	size_t bytes = 0;
	if (!kept->folder)
		return;
	if (choose(&h) && is_new(kept, &h) && (h.place = calloc(view->n_processes + 1, sizeof *h.place))) {
		take_all(&h);
		void *made = h.failed ? NULL : make(&h, &bytes);
		if (made)
			write_file(kept, &h, made, bytes);
		free(made);
	}
	forget_places(&h);
	forget_hints(&h);
}

void *kept_share(const struct injection *injection, const uint32_t *entries, size_t n, size_t *bytes)
{
	struct hinting h = {0};
	struct error err = {0};
	void *made = NULL;
	for (size_t i = 0; i < n && !h.failed; i++) {
		struct view *view;
		if (!view_part(injection, entries[i], &view, &err))
			continue;
		const struct view_process *p = entries[i] < view->n_processes ? &view->processes[entries[i]]
									      : NULL;
		h.view = view;
		if (p && is_image(p) && (h.place = calloc(view->n_processes + 1, sizeof *h.place)))
			take_blocks(&h, p, p->path);
		forget_places(&h);
		view_free(view);
	}
	if (!h.failed)
		made = make(&h, bytes);
	forget_hints(&h);
	return made;
}

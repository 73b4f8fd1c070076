#include "engine/inject/view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/inject/injection.h"

static void mark(struct view_process *p, const char *why)
{
	p->unfinished = false;
	if (p->inexact)
		return;
	snprintf(p->inexact_text, sizeof p->inexact_text, "%s", why);
	p->inexact = p->inexact_text;
}

static void mark_unfinished(struct view_process *p, const char *why)
{
	bool first = !p->inexact;
	mark(p, why);
	p->unfinished = first;
}

/* An entry claims bytes of its record. All that is claimed together is no more than what has been written, unless
 * the record is damaged: thousands of entries that claim the same millions of blocks would keep the reader busy
 * for ever. */
static uint64_t written(const struct injection *injection)
{
	const struct injection *parent;
	uint64_t bytes = injection_data_bytes(injection);
	uint32_t index;
	for (size_t i = 0; i < injection_own_count(injection); i++)
		bytes += injection_data_bytes(injection_own(injection, i, &parent, &index));
	return bytes;
}

static bool claim(struct view *view, uint64_t bytes)
{
	view->claimed += bytes;
	if (view->claimed > view->written)
		view->written = written(view->injection); /* programs run on */
	return view->claimed <= view->written;
}

/* most: own entries of an area that is not damaged. */
static void copy_area(struct view *view, struct view_process *p, const struct record_area *area,
		      size_t entry_bytes, uint32_t most, struct view_area *out)
{
	*out = (struct view_area){.count = area->count, .inherited = area->inherited};
	if (area->inherited > area->count) {
		mark(p, "its record is damaged");
		out->count = out->inherited = 0;
		return;
	}
	out->own = area->count - area->inherited;
	if (out->own == 0)
		return;
	uint64_t bytes = (uint64_t)out->own * entry_bytes;
	bool gone = p->record->folded == RECORD_GONE; /* a hole */
	if (out->own > most || bytes > area->bytes || area->offset % RECORD_PAGE || (!gone && !claim(view, bytes)))
		mark(p, "its record is damaged");
	else
		out->entries = injection_copy(p->injection, area->offset, bytes);
	if (!out->entries) {
		mark(p, "its record cannot be read");
		out->own = 0, out->count = out->inherited;
	}
}

/* One thread's, at `at`; false: it is not to be used. */
static bool copy_thread(struct view *view, struct view_process *p, uint64_t at, struct view_thread *t)
{
	struct record_thread *record = at % RECORD_PAGE ? NULL : injection_copy(p->injection, at, sizeof *record);
	t->record = record;
	if (!record || !claim(view, sizeof *record)) {
		mark(p, "its record cannot be read");
		return false;
	}
	/* its counters are in front of it, and older threads in front of these: no two threads' are the same
	 * bytes */
	if (record->counters > at || record->counters_most > RECORD_COUNTERS_MOST ||
	    record->counters_most > (at - record->counters) / 8 || record->next > record->counters) {
		mark(p, "its record is damaged");
		record->next = record->counters_most = 0;
	}
	return true;
}

static bool copy_threads(struct view *view, struct view_process *p, struct error *err)
{
	size_t capacity = 0;
	for (uint64_t at = p->record->first_thread; at;) {
		struct view_thread t = {.injection = p->injection};
		if (p->n_threads == RECORD_THREADS_MOST) {
			mark(p, "its record is damaged");
			break;
		}
		if (p->n_threads == capacity) {
			size_t wanted = capacity ? capacity * 2 : 4;
			void *grown = realloc(p->threads, wanted * sizeof *p->threads);
			if (!grown)
				return error_no_memory(err);
			p->threads = grown, capacity = wanted;
		}
		bool usable = copy_thread(view, p, at, &t);
		if (usable)
			t.counters = injection_copy_words(p->injection, t.record->counters,
							  t.record->counters_most, &t.n_counters);
		if (!usable || !t.counters) {
			free((void *)t.record);
			if (usable)
				return error_no_memory(err);
			break;
		}
		p->threads[p->n_threads++] = t;
		at = t.record->next;
	}
	/* oldest first: the list has the newest first */
	for (size_t i = 0, j = p->n_threads; i + 1 < j; i++) {
		struct view_thread swap = p->threads[i];
		p->threads[i] = p->threads[--j];
		p->threads[j] = swap;
	}
	return true;
}

/* Is there a process of that number that has not ended? One that only waits to be reaped has. */
static bool lives(uint32_t pid)
{
	char path[32], text[512] = "";
	if (kill((pid_t)pid, 0) != 0 && errno != EPERM)
		return false;
	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return errno != ENOENT;
	text[fread(text, 1, sizeof text - 1, file)] = 0;
	fclose(file);
	const char *name_end = strrchr(text, ')'); /* "pid (name) state …" */
	return !name_end || !strchr("ZX", name_end[1] == ' ' ? name_end[2] : 'R');
}

/* A program may have written it, and it is printed. */
static void make_plain(char *text, size_t size)
{
	for (size_t i = 0; i < size && text[i]; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
			text[i] = '?';
}

/* Blocks name code, modules and sites that were there before them. */
static void copy_entry(struct view_process *p, const struct record_process *shared)
{
	p->entry = *shared;
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
	p->entry.code.count = __atomic_load_n(&shared->code.count, __ATOMIC_ACQUIRE);
	p->entry.modules.count = __atomic_load_n(&shared->modules.count, __ATOMIC_ACQUIRE);
	p->entry.sites.count = __atomic_load_n(&shared->sites.count, __ATOMIC_ACQUIRE);
}

/* Whether it still runs; what has ended meanwhile is looked at again, for what it said at its end. */
static bool look(struct view_process *p, const struct record_process *shared)
{
	copy_entry(p, shared);
	if (p->entry.state == RECORD_FREE || p->entry.state > RECORD_RUNNING || !p->entry.pid)
		return false;
	if (lives(p->entry.pid))
		return true;
	copy_entry(p, shared);
	return false;
}

/* Does what its record says of its end leave the counts exact? */
static void judge_end(struct view_process *p, bool runs)
{
	make_plain(p->entry.reason, sizeof p->entry.reason);
	if (p->record->inexact)
		mark(p, p->record->inexact == 1 && memchr(p->record->reason, 0, sizeof p->record->reason)
				? p->record->reason
				: "no reason was given");
	else if (p->record->state == RECORD_RESERVED && !p->record->pid)
		mark_unfinished(p, "it was only being started");
	else if (runs)
		mark_unfinished(p, "it still runs");
	/* running, and dead: see killed(). Reserved, and dead: it ended before its first instruction, which is a
	 * count of 0 */
}

/* It ended without a word. Nothing is in the middle of a block if all its threads only waited in system calls. */
static void killed(struct view_process *p)
{
	bool waited = p->record->blocks.offset;
	size_t n = 0;
	for (size_t t = 0; t < p->n_threads; t++) {
		const struct record_thread *thread = p->threads[t].record;
		bool waits = thread->state == RECORD_THREAD_RUNNING && thread->call && thread->waits;
		waited &= thread->state == RECORD_THREAD_EXITED || waits;
		n += waits;
	}
	if (!waited || n == 0)
		mark_unfinished(p, "it was ended in the middle of a block");
}

/* The corrections of one thread, by block; *out is NULL when there are none. */
static bool gather_corrections(const struct view_process *p, size_t thread, uint64_t **out)
{
	uint32_t tid = p->threads[thread].record->tid;
	*out = NULL;
	for (size_t t = 0; t < thread; t++)
		if (p->threads[t].record->tid == tid)
			return true; /* a number used again: they are the first one's */
	for (uint32_t i = 0; i < p->corrections.own; i++) {
		const struct record_correction *c = (const struct record_correction *)p->corrections.entries + i;
		if (c->tid != tid || c->block >= p->blocks.count)
			continue;
		if (!*out && !(*out = calloc(p->blocks.count, sizeof **out)))
			return false;
		(*out)[c->block] += c->times;
	}
	return true;
}

/* entered of every block: counted, or what of another block's executions went on into it. In the order of numbers,
 * for a block only follows one of a smaller number. Only what is not 0 is written: the rest of calloc's memory
 * stays untouched. */
static bool fill_entered(struct view_process *p, size_t thread)
{
	struct view_thread *t = &p->threads[thread];
	uint64_t *corrected;
	if (!gather_corrections(p, thread, &corrected))
		return false;
	t->entered = calloc(p->blocks.count + 1u, sizeof *t->entered);
	if (!t->entered) {
		free(corrected);
		return false;
	}
	t->n_entered = p->blocks.count;
	for (uint32_t number = 0; number < p->blocks.count; number++) {
		const struct view_process *owner = view_block_owner(p, number);
		const struct record_block *block = owner ? view_block(owner, number) : NULL;
		if (!block)
			continue;
		if (!(block->flags & RECORD_BLOCK_FOLLOWS)) {
			uint64_t entered = view_counter(t, block->counter);
			if (entered)
				t->entered[number] = entered;
			continue;
		}
		const struct view_process *before_owner = block->counter < number
								  ? view_block_owner(p, block->counter)
								  : NULL;
		const struct record_block *before = before_owner ? view_block(before_owner, block->counter) : NULL;
		uint64_t entered = before ? t->entered[block->counter] : 0, less = 0;
		if (before && entered)
			less = (corrected ? corrected[block->counter] : 0) +
			       (before->taken == RECORD_NONE ? 0 : view_counter(t, before->taken));
		if (!before || less > entered)
			mark(p, "its counters do not add up");
		else if (entered > less)
			t->entered[number] = entered - less;
	}
	free(corrected);
	return true;
}

/* Links of the process to others, and what its entry says. */
static void relate(struct view_process *p, bool runs)
{
	struct view_process *own = p - (p->index - p->base); /* entry 0 of its record */
	uint32_t parent = p->record->parent, before = p->record->continues;
	bool has_parent = parent != RECORD_NONE && parent < p->index - p->base;
	p->head = p;
	if (has_parent)
		p->parent = &own[parent];
	struct view_process *part = p->leaves                                   ? p->leaves
				    : before && before - 1 < p->index - p->base ? &own[before - 1]
										: NULL;
	if (p->leaves)
		p->parent = p->leaves;
	if (part) {
		p->head = part->head ? part->head : part;
		part->next_part = p;
	}
	if (p->record->forked && p->parent)
		p->inherits = p->parent;
	p->root = p->inherits ? p->inherits->root : p->head != p ? p->head->root : p;
	if (p->root != p) {
		p->next_kin = p->root->next_kin;
		p->root->next_kin = p;
	}
	p->descendant = p->parent && (p->record->forked || p->parent->descendant);
	memcpy(p->path, p->record->path, sizeof p->path);
	p->path[sizeof p->path - 1] = 0;
	make_plain(p->path, sizeof p->path);
	if (!p->path[0] && p->parent)
		memcpy(p->path, p->parent->path, sizeof p->path);
	judge_end(p, runs);
	if (p->record->left && p->record->state == RECORD_CONTINUED && !p->left_for)
		mark(p, "the record in which it went on is lost");
	if (p->record->state > RECORD_CONTINUED || p->record->folded > RECORD_GONE || (before && !part) ||
	    p->record->forked > 1)
		mark(p, "its record is damaged");
	if ((parent != RECORD_NONE && !p->parent) || (p->record->forked && !p->parent))
		mark(p, "its record is damaged");
}

static void copy_totals(struct view *view, struct view_process *p)
{
	p->folded = true;
	if (!p->record->totals && !p->next_part)
		mark(p, "its record is damaged");
	if (!p->record->totals)
		return; /* moved on to the next part's */
	if (!(p->record->totals % RECORD_PAGE) && claim(view, p->record->totals_bytes))
		p->totals = injection_copy(p->injection, p->record->totals, p->record->totals_bytes);
	p->totals_bytes = p->record->totals_bytes;
	if (!p->totals)
		mark(p, "its record cannot be read");
}

static void copy_areas(struct view *view, struct view_process *p)
{
	copy_area(view, p, &p->record->blocks, sizeof(struct record_block), RECORD_BLOCKS_MOST, &p->blocks);
	copy_area(view, p, &p->record->code, 1, RECORD_CODE_MOST, &p->code);
	copy_area(view, p, &p->record->modules, sizeof(struct record_module), RECORD_MODULES_MOST, &p->modules);
	copy_area(view, p, &p->record->sites, sizeof(struct record_site), RECORD_SITES_MOST, &p->sites);
	if (p->blocks.count > RECORD_BLOCKS_MOST ||
	    (p->blocks.inherited && (!p->inherits || p->blocks.inherited > p->inherits->blocks.count))) {
		mark(p, "its record is damaged");
		p->blocks.inherited = p->blocks.own = p->blocks.count = 0;
	}
}

/* counts: also its threads' and its corrections, not only what others inherit. */
static bool load(struct view *view, struct view_process *p, bool counts, struct error *err)
{
	p->loaded = counts;
	if (p->record->folded != RECORD_WHOLE && counts)
		copy_totals(view, p);
	if (p->record->folded == RECORD_GONE) {
		if (counts)
			/* a hole, but with RECORD_OBJECTS */
			copy_area(view, p, &p->record->modules, sizeof(struct record_module), RECORD_MODULES_MOST,
				  &p->modules);
		return true;
	}
	if (counts && p->record->folded == RECORD_WHOLE && !copy_threads(view, p, err))
		return false;
	if (counts && !p->inexact && p->record->pid && p->record->state == RECORD_RUNNING)
		killed(p);
	copy_areas(view, p);
	if (!counts || p->record->folded != RECORD_WHOLE)
		return true;
	copy_area(view, p, &p->record->corrections, sizeof(struct record_correction), RECORD_CORRECTIONS_MOST,
		  &p->corrections);
	for (size_t t = 0; t < p->n_threads; t++)
		if (!fill_entered(p, t))
			return error_no_memory(err);
	return true;
}

static uint32_t entries_of(const struct injection *injection)
{
	uint32_t count = __atomic_load_n(&injection_record(injection)->process_count, __ATOMIC_ACQUIRE);
	return count < RECORD_PROCESSES_MAX ? count : RECORD_PROCESSES_MAX;
}

/* A record's entries keep their order: a child names its parent by its number there. */
static void add_entries(struct view *view, const struct injection *injection, uint32_t count,
			struct view_process *leaves)
{
	size_t base = view->n_processes;
	for (uint32_t i = 0; i < count; i++) {
		struct view_process *p = &view->processes[view->n_processes++];
		p->index = (uint32_t)base + i;
		p->base = (uint32_t)base;
		p->injection = injection;
		p->record = &p->entry;
		if (i == 0 && leaves && !leaves->left_for) {
			p->leaves = leaves;
			leaves->left_for = p;
		}
	}
}

/* The entry of a record that is in the view already. */
static struct view_process *entry_of(struct view *view, const struct injection *injection, uint32_t index)
{
	for (size_t i = 0; i < view->n_processes; i++)
		if (view->processes[i].injection == injection)
			return view->processes[i].base == i && index < view->n_processes - i &&
					       view->processes[i + index].injection == injection
				       ? &view->processes[i + index]
				       : NULL;
	return NULL;
}

/* The injection's entries, and with `all` those of the records that processes have made for themselves. */
static bool gather(struct view *view, bool all)
{
	const struct injection *injection = view->injection, *parent;
	size_t n_own = all ? injection_gather((struct injection *)injection) : 0, total = entries_of(injection);
	uint32_t index, counts[2] = {(uint32_t)total, 0};
	uint32_t *own_counts = calloc(n_own + 1, sizeof *own_counts);
	for (size_t i = 0; own_counts && i < n_own; i++)
		total += own_counts[i] = entries_of(injection_own(injection, i, &parent, &index));
	view->processes = calloc(total + 1u, sizeof *view->processes);
	if (!own_counts || !view->processes) {
		free(own_counts);
		return false;
	}
	add_entries(view, injection, counts[0], NULL);
	for (size_t i = 0; i < n_own; i++) {
		const struct injection *own = injection_own(injection, i, &parent, &index);
		add_entries(view, own, own_counts[i], entry_of(view, parent, index));
	}
	free(own_counts);
	for (size_t i = 0; i < view->n_processes; i++) {
		struct view_process *p = &view->processes[i];
		bool runs = look(p, injection_process(p->injection, p->index - p->base));
		p->head = p->root = p;
		if (p->record->state != RECORD_FREE)
			relate(p, runs);
	}
	return true;
}

/* What is loaded of a process. */
enum load { LOAD_NOT, LOAD_CODE, LOAD_COUNTS };

static void want_code(enum load *wanted, const struct view_process *p)
{
	for (; p; p = p->inherits)
		if (wanted[p->index] == LOAD_NOT)
			wanted[p->index] = LOAD_CODE;
}

/* The part that it continues, in the same record; NULL. */
static const struct view_process *part_before(const struct view *view, const struct view_process *p)
{
	uint32_t before = p->record->continues;
	return before && before - 1 < p->index - p->base ? &view->processes[p->base + before - 1] : NULL;
}

/* only: RECORD_NONE for all, or the one whose counts are wanted; whole: and those of all that it continues. */
static bool make(const struct injection *injection, uint32_t only, bool whole, struct view **out,
		 struct error *err)
{
	struct view *view = calloc(1, sizeof *view);
	*out = NULL;
	if (!view)
		return error_no_memory(err);
	view->injection = injection;
	view->holds = only == RECORD_NONE || whole;
	if (view->holds)
		injection_hold(injection);
	if (!gather(view, only == RECORD_NONE)) {
		view_free(view);
		return error_no_memory(err);
	}
	size_t count = view->n_processes;
	/* what it inherits from comes first */
	enum load *wanted = calloc(count + 1u, sizeof *wanted);
	bool done = wanted != NULL;
	for (const struct view_process *p = wanted && only < count ? &view->processes[only] : NULL; p;
	     p = whole ? part_before(view, p) : NULL) {
		want_code(wanted, p);
		wanted[p->index] = LOAD_COUNTS;
	}
	struct view_process *before = only < count && !whole &&
						      view->processes[only].head != &view->processes[only]
					      ? view->processes[only].parent
					      : NULL;
	if (wanted && before && before->record->folded != RECORD_WHOLE)
		copy_totals(view, before);
	for (size_t i = 0; i < count && done; i++) {
		struct view_process *p = &view->processes[i];
		if (p->record->state != RECORD_FREE && (only == RECORD_NONE || wanted[i]))
			done = load(view, p, only == RECORD_NONE || wanted[i] == LOAD_COUNTS, err);
	}
	if (!wanted)
		error_no_memory(err);
	free(wanted);
	if (!done) {
		view_free(view);
		return false;
	}
	*out = view;
	return true;
}

bool view_new(const struct injection *injection, struct view **out, struct error *err)
{
	return make(injection, RECORD_NONE, false, out, err);
}

bool view_part(const struct injection *injection, uint32_t index, struct view **out, struct error *err)
{
	return make(injection, index, false, out, err);
}

bool view_process_new(const struct injection *injection, uint32_t index, struct view **out, struct error *err)
{
	return make(injection, index, true, out, err);
}

void view_free(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->n_processes; i++) {
		struct view_process *p = &view->processes[i];
		const struct view_area *areas[] = {&p->blocks, &p->code, &p->modules, &p->sites, &p->corrections};
		for (size_t t = 0; t < p->n_threads; t++) {
			free(p->threads[t].counters);
			free(p->threads[t].entered);
			free((void *)p->threads[t].record);
		}
		free(p->threads);
		for (size_t a = 0; a < sizeof areas / sizeof *areas; a++)
			free((void *)areas[a]->entries);
		free((void *)p->totals);
	}
	if (view->holds)
		injection_let_go(view->injection);
	free(view->processes);
	free(view);
}

const struct view_process *view_block_owner(const struct view_process *process, uint32_t number)
{
	if (number >= process->blocks.count)
		return NULL;
	while (process && number < process->blocks.inherited)
		process = process->inherits;
	return process;
}

const struct record_block *view_block(const struct view_process *owner, uint32_t number)
{
	if (number < owner->blocks.inherited || number >= owner->blocks.count)
		return NULL;
	return (const struct record_block *)owner->blocks.entries + (number - owner->blocks.inherited);
}

const uint8_t *view_code(const struct view_process *owner, const struct record_block *block)
{
	/* code mapped may be newer than blocks, never older: it is counted first */
	if (!owner->code.entries || block->code > owner->code.own ||
	    block->length_bytes > owner->code.own - block->code)
		return NULL;
	return (const uint8_t *)owner->code.entries + block->code;
}

const struct record_module *view_module(const struct view_process *owner, const struct record_block *block)
{
	while (owner && block->module < owner->modules.inherited)
		owner = owner->inherits;
	if (!owner || block->module == RECORD_NONE || block->module >= owner->modules.count)
		return NULL;
	return (const struct record_module *)owner->modules.entries + (block->module - owner->modules.inherited);
}

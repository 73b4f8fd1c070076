#include "backend/engine/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/decoded.h"
#include "backend/engine/tally.h"
#include "base/hash.h"
#include "base/vec.h"

/* One instruction of a group, wherever and in whichever block it ran. */
struct code_place {
	const char *module;
	uint64_t offset;
	const uint8_t *code; /* its bytes, in the record */
	uint8_t length;
	bool leader, ends, taken_up;
	uint64_t count;
};

struct block_group {
	VEC(struct code_place) places;
	struct hash_index index; /* of places */
	struct leaders leaders;
	const struct view_process *root; /* of leaders */
};

/* What of a block is being added. */
struct block_adding {
	struct block_group *group;
	const struct record_block *block;
	const struct record_module *module;
	const uint8_t *code;
	uint64_t times;
	bool subtract, failed;
};

static uint64_t hash_place(const struct code_place *p)
{
	return hash_bytes(hash_number(hash_text(HASH_BEGIN, p->module), p->offset), p->code, p->length);
}

static bool same_place(const struct code_place *a, const struct code_place *b)
{
	return a->offset == b->offset && a->length == b->length && !strcmp(a->module, b->module) &&
	       !memcmp(a->code, b->code, a->length);
}

static struct code_place *find_or_add(struct block_group *g, const struct code_place *wanted)
{
	const uint64_t hash = hash_place(wanted);
	struct hash_search search = hash_find(&g->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (same_place(&g->places.items[i], wanted))
			return &g->places.items[i];
	if (!vec_push(&g->places, *wanted) || !hash_add(&g->index, hash, (uint32_t)g->places.count - 1))
		return NULL;
	return &g->places.items[g->places.count - 1];
}

static void add_insn(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn)
{
	struct block_adding *a = arg;
	struct code_place wanted = {.module = a->module ? a->module->path : "",
				    .offset = address,
				    .code = a->code + (address - a->block->address),
				    .length = insn->length};
	(void)index;
	if (a->module && a->module->path[0])
		wanted.offset = address - a->module->address + a->module->file_offset;
	struct code_place *place = a->failed ? NULL : find_or_add(a->group, &wanted);
	if (!place) {
		a->failed = true;
		return;
	}
	place->leader |= leaders_has(&a->group->leaders, address);
	place->ends = insn->flow >= X86_FLOW_JCC && insn->flow <= X86_FLOW_UIRET;
	place->count += a->subtract ? 0 - a->times : a->times;
}

static bool add_block(struct block_group *g, const struct view_process *p, uint32_t number, uint32_t from,
		      uint64_t times, bool subtract, struct blocks *out, struct error *err)
{
	const struct view_process *owner = view_block_owner(p, number);
	const struct record_block *block = owner ? view_block(owner, number) : NULL;
	struct block_adding a = {.group = g, .block = block, .times = times, .subtract = subtract};
	if (block) {
		a.module = view_module(owner, block), a.code = view_code(owner, block);
		if (g->root != decoded_root(owner)) {
			free(g->leaders.at);
			g->root = decoded_root(owner);
			if (!leaders_collect(g->root, &g->leaders))
				return error_no_memory(err);
		}
	}
	if (!block || !decoded_each(owner, block, from, add_insn, &a)) {
		if (!out->why)
			snprintf(out->why_text, sizeof out->why_text, "the record of a block of '%s' is damaged",
				 p->path);
		out->why = out->why_text;
		return true;
	}
	return !a.failed || error_no_memory(err);
}

static bool add_process(struct block_group *g, const struct view_process *p, const struct view_thread *only,
			struct blocks *out, struct error *err)
{
	for (uint32_t number = 0; number < p->blocks.count; number++) {
		const struct view_process *owner = view_block_owner(p, number);
		const struct record_block *block = owner ? view_block(owner, number) : NULL;
		uint64_t times = 0;
		for (size_t t = 0; block && t < p->n_threads; t++)
			if (!only || only == &p->threads[t])
				times += view_entered(&p->threads[t], number);
		if (times && !add_block(g, p, number, 0, times, false, out, err))
			return false;
	}
	for (uint32_t i = 0; i < p->corrections.own; i++) {
		const struct record_correction *c = (const struct record_correction *)p->corrections.entries + i;
		if (c->times && (!only || c->tid == only->record->tid) &&
		    !add_block(g, p, c->block, c->done, c->times, true, out, err))
			return false;
	}
	return true;
}

/* A thread in this part, and in those that the process went on in; nothing if it was in an earlier one, with which
 * it was added. */
static bool add_thread(struct block_group *g, const struct view_process *p, size_t thread, struct blocks *out,
		       struct error *err)
{
	uint32_t tid = p->threads[thread].record->tid;
	for (const struct view_process *before = p->head; before != p; before = before->next_part)
		for (size_t t = 0; t < before->n_threads; t++)
			if (before->threads[t].record->tid == tid)
				return true;
	if (!add_process(g, p, &p->threads[thread], out, err))
		return false;
	for (const struct view_process *part = p->next_part; part; part = part->next_part)
		for (size_t t = 0; t < part->n_threads; t++)
			if (part->threads[t].record->tid == tid &&
			    !add_process(g, part, &part->threads[t], out, err))
				return false;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct code_place *x = a, *y = b;
	int order = strcmp(x->module, y->module);
	if (order)
		return order;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return memcmp(x->code, y->code, x->length);
}

/* The only instruction at that place, or NULL. from: the search begins there. */
static struct code_place *only_at(struct code_place *places, size_t n, size_t from, const char *module,
				  uint64_t offset)
{
	for (; from < n && !strcmp(places[from].module, module) && places[from].offset <= offset; from++)
		if (places[from].offset == offset)
			return from + 1 < n && places[from + 1].offset == offset &&
					       !strcmp(places[from + 1].module, module)
				       ? NULL
				       : &places[from];
	return NULL;
}

/* Turns the group's instructions into rows and empties it. */
static bool end_group(struct block_group *g, uint32_t pid, uint32_t tid, struct blocks *out, size_t *capacity,
		      struct error *err)
{
	struct code_place *places = g->places.items;
	const size_t n = g->places.count;
	bool done = false;
	if (n)
		qsort(places, n, sizeof *places, by_place);
	for (size_t i = 0; i < n; i++) {
		struct code_place *first = &places[i], *last = first;
		if (first->taken_up || first->count == 0)
			continue;
		struct block_row row = {.pid = pid,
					.tid = tid,
					.module = first->module,
					.offset = first->offset,
					.count = first->count};
		for (struct code_place *p = first; p;) {
			last = p, p->taken_up = true;
			row.insns++, row.length_bytes += p->length;
			p = p->ends ? NULL
				    : only_at(places, n, (size_t)(p - places) + 1, p->module,
					      p->offset + p->length);
			if (p && (p->leader || p->taken_up || p->count != last->count))
				p = NULL;
		}
		uint64_t product;
		if (!vec_grow((void **)&out->rows, capacity, out->count, sizeof *out->rows)) {
			error_no_memory(err);
			goto out;
		}
		out->rows[out->count++] = row;
		if (__builtin_mul_overflow(row.count, row.insns, &product) ||
		    __builtin_add_overflow(out->instructions, product, &out->instructions)) {
			error_set(err, ERROR_LIMIT, "the count of instructions does not fit in 64 bits");
			goto out;
		}
	}
	done = true;
out:
	vec_free(&g->places);
	hash_free(&g->index);
	free(g->leaders.at);
	*g = (struct block_group){0};
	return done;
}

bool blocks_new(const struct view *view, bool children, enum blocks_groups groups, struct blocks **out,
		struct error *err)
{
	struct tally_options options = {.children = children};
	struct blocks *blocks = calloc(1, sizeof *blocks);
	struct tally *tally = NULL;
	struct block_group group = {0};
	size_t capacity = 0;
	bool done = false;
	*out = NULL;
	if (!blocks)
		return error_no_memory(err);
	if (!tally_new(view, &options, &tally, err))
		goto out;
	if (tally->why) {
		memcpy(blocks->why_text, tally->why_text, sizeof blocks->why_text);
		blocks->why = blocks->why_text;
	}
	for (size_t i = 0; i < view->n_processes; i++) {
		const struct view_process *p = &view->processes[i];
		if (p->record->state == RECORD_FREE || (!children && p->descendant))
			continue;
		if (p->folded && !blocks->why) {
			snprintf(blocks->why_text, sizeof blocks->why_text,
				 "'%s' ran more basic blocks than the engine's record can hold", p->path);
			blocks->why = blocks->why_text;
		}
		if (groups == BLOCKS_BY_THREAD) {
			for (size_t t = 0; t < p->n_threads; t++)
				if (!add_thread(&group, p, t, blocks, err) ||
				    !end_group(&group, p->record->pid, p->threads[t].record->tid, blocks,
					       &capacity, err))
					goto out;
			continue;
		}
		if (groups == BLOCKS_BY_PROCESS && p->head != p)
			continue;
		for (const struct view_process *part = p; part;
		     part = groups == BLOCKS_BY_PROCESS ? part->next_part : NULL)
			if (!add_process(&group, part, NULL, blocks, err))
				goto out;
		if (groups == BLOCKS_BY_PROCESS && !end_group(&group, p->record->pid, 0, blocks, &capacity, err))
			goto out;
	}
	if (groups == BLOCKS_TOGETHER && !end_group(&group, 0, 0, blocks, &capacity, err))
		goto out;
	if (!blocks->why && blocks->instructions != tally->total[COUNT_INSTRUCTIONS]) {
		error_set(err, ERROR_SYSTEM, "the blocks have %llu instructions, the threads %llu",
			  (unsigned long long)blocks->instructions,
			  (unsigned long long)tally->total[COUNT_INSTRUCTIONS]);
		goto out;
	}
	*out = blocks;
	done = true;
out:
	vec_free(&group.places);
	hash_free(&group.index);
	free(group.leaders.at);
	tally_free(tally);
	if (!done)
		blocks_free(blocks);
	return done;
}

void blocks_free(struct blocks *blocks)
{
	if (!blocks)
		return;
	free(blocks->rows);
	free(blocks);
}

void blocks_write(const struct blocks *blocks, enum blocks_groups groups, struct str *out)
{
	if (groups != BLOCKS_TOGETHER)
		str_append(out, groups == BLOCKS_BY_THREAD ? "pid\ttid\t" : "pid\t");
	str_append(out, "module\toffset\tlength_bytes\tinstructions\tcount\n");
	for (size_t i = 0; i < blocks->count; i++) {
		const struct block_row *row = &blocks->rows[i];
		if (groups != BLOCKS_TOGETHER)
			str_appendf(out, "%u\t", row->pid);
		if (groups == BLOCKS_BY_THREAD)
			str_appendf(out, "%u\t", row->tid);
		for (const char *c = row->module[0] ? row->module : "[memory]"; *c; c++)
			switch (*c) {
			case '\t': str_append(out, "\\t"); break;
			case '\n': str_append(out, "\\n"); break;
			case '\\': str_append(out, "\\\\"); break;
			default: str_append_char(out, *c);
			}
		str_appendf(out, "\t0x%llx\t%u\t%u\t%llu\n", (unsigned long long)row->offset, row->length_bytes,
			    row->insns, (unsigned long long)row->count);
	}
}

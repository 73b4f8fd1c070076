#include "backend/engine/cached_vector.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MOST (1u << 20)

struct working {
	struct sparse_vector vector;
	unsigned n_reps;
	bool too_many_reps;
	uint64_t starts;
	struct known_rep reps[KNOWN_REPS]; /* not set but for the first n_reps: most blocks have none */
};

static void note_each(struct working *w, uint32_t index, const struct exact_each *each)
{
	if (!each->unit)
		return;
	if (w->n_reps < KNOWN_REPS)
		w->reps[w->n_reps++] = (struct known_rep){index, *each};
	else
		w->too_many_reps = true;
}

/* False: the bytes are not what the block says. */
static bool work(struct working *w, struct shapes *shapes, const uint8_t *code, const struct record_block *block)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < block->insns; i++) {
		uint32_t left = block->length_bytes - at;
		if (at < 64)
			w->starts |= 1ull << at;
		const struct shape *shape = shapes_find(shapes, code + at, left);
		if (shape) {
			shape_add(shape, &w->vector);
			at += shape->length;
			continue;
		}
		struct x86_insn insn;
		struct exact_each each;
		if (x86_decode(code + at, left, &insn) != X86_DECODE_OK)
			return false;
		shapes_learn(shapes, code + at, &insn, &w->vector, &each, NULL);
		note_each(w, i, &each);
		at += insn.length;
	}
	return at == block->length_bytes;
}

/* Eight bytes at a time: short programs have a hundred thousand blocks. */
static uint64_t hash_code(const uint8_t *code, uint32_t length)
{
	uint64_t h = length, word;
	for (; length >= 8; code += 8, length -= 8) {
		memcpy(&word, code, 8);
		h = hash_number(h, word);
	}
	word = 0;
	memcpy(&word, code, length);
	return hash_number(h, word);
}

/* False: damaged, or no memory. */
static bool work_out(struct knowledge *k, struct cached_vector *known, struct arena *memory,
		     const struct record_block *block)
{
	struct working w;
	if (!k->shapes)
		k->shapes = calloc(1, sizeof *k->shapes);
	if (!k->shapes) {
		k->no_memory = true;
		return false;
	}
	memset(&w, 0, offsetof(struct working, reps));
	if (!work(&w, k->shapes, known->code, block) || w.too_many_reps)
		return false;
	struct known_count found[COUNT_STATIC];
	for (unsigned half = 0; half < 2; half++)
		for (uint64_t left = w.vector.moved[half]; left; left &= left - 1) {
			uint32_t e = half * 64 + (uint32_t)__builtin_ctzll(left);
			found[known->n_counts++] = (struct known_count){e, w.vector.dense.of[e]};
		}
	known->counts = arena_alloc(memory, known->n_counts * sizeof *known->counts);
	known->reps = w.n_reps ? arena_alloc(memory, w.n_reps * sizeof *known->reps) : NULL;
	if (!known->counts || (w.n_reps && !known->reps)) {
		k->no_memory = true;
		return false;
	}
	memcpy(known->counts, found, known->n_counts * sizeof *found);
	if (w.n_reps)
		memcpy(known->reps, w.reps, w.n_reps * sizeof *known->reps);
	known->n_reps = (uint16_t)w.n_reps;
	known->starts = w.starts;
	return true;
}

static struct cached_vector *find(struct knowledge *k, uint64_t hash, const uint8_t *code,
				  const struct record_block *block)
{
	struct hash_search search = hash_find(&k->index, hash);
	for (uint32_t i; hash_next(&search, &i);) {
		struct cached_vector *known = &k->all.items[i];
		if (known->length == block->length_bytes && known->insns == block->insns &&
		    (known->code == code || !memcmp(known->code, code, known->length)))
			return known;
	}
	return NULL;
}

/* Until the next one. */
static const struct cached_vector *work_out_once(struct knowledge *k, const struct view_process *owner,
						 const struct record_block *block)
{
	arena_reset(&k->once);
	k->last = (struct cached_vector){
		.code = view_code(owner, block), .length = block->length_bytes, .insns = block->insns};
	return work_out(k, &k->last, &k->once, block) ? &k->last : NULL;
}

const struct cached_vector *known_find(struct knowledge *k, const struct view_process *owner,
				       const struct record_block *block)
{
	const uint8_t *code = view_code(owner, block);
	if (!code)
		return NULL;
	if (k->unshared)
		return work_out_once(k, owner, block);
	const uint64_t hash = hash_code(code, block->length_bytes);
	struct cached_vector *known = find(k, hash, code, block);
	if (known)
		return known;
	if (k->all.count >= KEPT_MOST)
		return work_out_once(k, owner, block);
	struct cached_vector worked = {.code = code, .length = block->length_bytes, .insns = block->insns};
	if (!work_out(k, &worked, &k->memory, block))
		return NULL;
	if (k->keeps) {
		uint8_t *copy = arena_alloc(&k->memory, worked.length + 1u);
		if (!copy) {
			k->no_memory = true;
			return NULL;
		}
		worked.code = memcpy(copy, code, worked.length);
	}
	if (!vec_push(&k->all, worked) || !hash_add(&k->index, hash, (uint32_t)k->all.count - 1)) {
		k->no_memory = true;
		return NULL;
	}
	return &k->all.items[k->all.count - 1];
}

struct marking {
	const struct leaders *leaders;
	uint32_t n;
};

static void mark_insn(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn)
{
	struct marking *m = arg;
	(void)index, (void)insn;
	m->n += leaders_has(m->leaders, address);
}

uint32_t known_leaders(const struct cached_vector *known, const struct view_process *owner,
		       const struct record_block *block, const struct leaders *leaders)
{
	struct marking m = {.leaders = leaders};
	if (block->length_bytes > 64) {
		decoded_each(owner, block, 0, mark_insn, &m);
		return m.n;
	}
	for (size_t i = leaders_from(leaders, block->address);
	     i < leaders->count && leaders->at[i] - block->address < block->length_bytes; i++)
		m.n += known->starts >> (leaders->at[i] - block->address) & 1;
	return m.n;
}

void knowledge_free(struct knowledge *k)
{
	vec_free(&k->all);
	hash_free(&k->index);
	arena_free(&k->memory);
	arena_free(&k->once);
	free(k->shapes);
	*k = (struct knowledge){0};
}

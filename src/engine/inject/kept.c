#include "engine/inject/kept.h"

#include <stdint.h>

#include "engine/wire/kept.h"

enum {
	PATCH_BYTES = 4,
	LONGEST_BLOCK = 512 + 15,
	MOST_INSNS = 48,
	KIND_SPAN_BLOCK = 0,
	KIND_SPAN_THUNK = 1,
	EXIT_KINDS = 13
};

static bool in_code(const struct kept_piece *p, uint64_t at, uint64_t bytes)
{
	return at <= p->code_bytes && bytes <= p->code_bytes - at;
}

static bool is_block(const struct kept_piece *p, uint32_t id) { return id == KEPT_NONE || id < p->blocks; }

static bool sound_blocks(const struct kept_parts *r)
{
	const struct kept_piece *p = r->piece;
	uint64_t program = 0;
	for (uint32_t i = 0; i < p->blocks; i++) {
		const struct kept_block *b = &r->blocks[i];
		if (b->offset >= p->length || b->length == 0 || b->length > LONGEST_BLOCK || b->insns == 0 ||
		    b->insns > b->length || b->insns > MOST_INSNS || !in_code(p, b->code, b->code_bytes) ||
		    (b->follows != KEPT_NONE && b->follows >= i) || !is_block(p, b->follower) ||
		    (b->tail_from != KEPT_NONE && b->tail_from >= i) || b->conditional > 1)
			return false;
		program += b->length;
	}
	return program == p->program_bytes;
}

static bool sound_exits(const struct kept_parts *r)
{
	const struct kept_piece *p = r->piece;
	for (uint32_t i = 0; i < p->exits; i++) {
		const struct kept_exit *x = &r->exits[i];
		if (x->block >= p->blocks || !is_block(p, x->linked) || x->kind >= EXIT_KINDS || x->of > 2 ||
		    (x->patch && !in_code(p, x->patch - 1, PATCH_BYTES)) ||
		    (x->thunk && !in_code(p, x->thunk - 1, PATCH_BYTES)) || (x->linked != KEPT_NONE && !x->patch))
			return false;
	}
	return true;
}

/* In the order of their places, as the cache's are. */
static bool sound_spans(const struct kept_parts *r)
{
	const struct kept_piece *p = r->piece;
	for (uint32_t i = 0; i < p->spans; i++) {
		uint32_t kind = r->spans[i].kind_id >> 29, id = r->spans[i].kind_id & 0x1fffffff;
		bool known = (kind == KIND_SPAN_BLOCK && id < p->blocks) ||
			     (kind == KIND_SPAN_THUNK && id < p->exits);
		if (!known || r->spans[i].offset >= p->code_bytes ||
		    (i && r->spans[i].offset < r->spans[i - 1].offset))
			return false;
	}
	return true;
}

static bool sound_rest(const struct kept_parts *r)
{
	const struct kept_piece *p = r->piece;
	for (uint32_t i = 0; i < p->relocations; i++)
		if (!in_code(p, r->relocations[i] & ((1u << KEPT_KIND_SHIFT) - 1), PATCH_BYTES) ||
		    r->relocations[i] >> KEPT_KIND_SHIFT > KEPT_TABLE)
			return false;
	for (uint32_t i = 0; i < p->returns; i++)
		if (!in_code(p, r->returns[i].at, PATCH_BYTES))
			return false;
	for (uint32_t i = 0; i < p->sites; i++)
		if (r->sites[i].block >= p->blocks || r->sites[i].insn >= r->blocks[r->sites[i].block].insns)
			return false;
	return true;
}

bool kept_sound(const void *bytes, size_t n)
{
	const char *at = bytes;
	uint32_t pieces = 0;
	for (size_t left = n; left; pieces++) {
		const struct kept_piece *p = (const struct kept_piece *)(const void *)at;
		if (left < sizeof *p || !kept_piece_fits(p, left) || pieces == KEPT_MODULES_MOST ||
		    p->blocks == 0 || p->blocks >= 1u << 21 || p->exits >= 1u << 22 || p->length > UINT32_MAX)
			return false;
		const struct kept_parts r = kept_parts_of(p);
		if (!sound_blocks(&r) || !sound_exits(&r) || !sound_spans(&r) || !sound_rest(&r))
			return false;
		at += p->bytes, left -= p->bytes;
	}
	return true;
}

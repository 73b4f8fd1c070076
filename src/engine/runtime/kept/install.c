/*
 * Puts the blocks of a piece into the cache, when a file's code is about to be executed for the first time.
 *
 *     program at pc, not translated ──► its mapping is a piece's ──► all bytes equal ──► blocks, exits, links, code ──► as if translated
 *
 * What always holds:
 *  1. The host has checked the piece's numbers (inject/kept.c), and the image that has it is sealed.
 *  2. Nothing is changed before every byte of the program's that the piece was made from was found in memory, in a
 *     mapping that cannot be written to unseen; and a piece is put in once.
 *  3. The same bytes at the same place give the same code, as everywhere (translate/translate.c, 3): the place in
 *     a cache line is the same, and all operands are within reach, here as where the piece was made.
 */
#include "engine/runtime/kept/kept.h"

#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"

#define REACH 0x70000000ull /* less than place_counter() and cache_arena() allow */

static uint8_t used[KEPT_MODULES_MOST]; /* by piece: put in, or refused for good */

/* A piece on its way into the cache. */
struct putting {
	struct kept_parts of;
	uint64_t address; /* of the mapping */
	struct code_arena *arena;
	uint8_t *hot;         /* the code's place */
	uint32_t block, exit; /* the first ones' numbers */
};

static bool same_text(const char *a, const char *b)
{
	size_t n = text_length(a);
	return n == text_length(b) && !memcmp(a, b, n);
}

/* The piece of the mapping, which has not been put in; NULL: there is none. */
static const struct kept_piece *find(const struct watched_mapping *region)
{
	uint32_t own = region->module - rt.modules_inherited;
	const struct record_module *module = &rt.record_modules[own];
	uint64_t length = region->end - region->start, at = rt.image + rt.setup->kept,
		 end = at + rt.setup->kept_bytes;
	if (region->module < rt.modules_inherited || region->module >= rt.areas[AREA_MODULES].count ||
	    module->address != region->start || module->length != length)
		return NULL;
	for (uint32_t i = 0; at < end && i < KEPT_MODULES_MOST; i++) {
		const struct kept_piece *p = (const struct kept_piece *)at;
		at += p->bytes;
		if (used[i] || p->length != length || p->file_offset != module->file_offset ||
		    !same_text(p->path, module->path) || !same_text(p->exe, rt.path))
			continue;
		used[i] = 1;
		return p;
	}
	return NULL;
}

static bool has_room(const struct putting *k)
{
	const struct kept_piece *p = k->of.piece;
	const struct code_arena *a = k->arena;
	return a->cold - a->hot > (long)(p->code_bytes + p->exits * 20ull + p->returns * 8ull + (1u << 18)) &&
	       a->hot_count + p->spans + 4096 < a->spans_max && a->cold_count + p->exits + 4096 < a->spans_max &&
	       rt.exit_count + p->exits + 4096 < rt.exits_max &&
	       rt.block_count + p->blocks + 4096 < rt.blocks_max &&
	       rt.code_used + p->program_bytes < rt.areas[AREA_CODE].bytes / 2 &&
	       (rt.areas[AREA_SITES].count - rt.sites_inherited + p->sites) * sizeof(struct record_site) <
		       rt.areas[AREA_SITES].bytes / 2;
}

static bool reached(const struct putting *k)
{
	for (uint32_t i = 0; i < k->of.piece->relocations; i++) {
		uint32_t at = k->of.relocations[i] & ((1u << KEPT_KIND_SHIFT) - 1);
		int32_t value;
		if (k->of.relocations[i] >> KEPT_KIND_SHIFT != KEPT_OPERAND)
			continue;
		memcpy(&value, k->of.code + at, 4);
		uint64_t operand = k->address + (uint64_t)(int64_t)value + at + 4;
		if (operand - (uint64_t)k->arena->base + REACH >= 2 * REACH ||
		    operand - (uint64_t)k->arena->end + REACH >= 2 * REACH)
			return false;
	}
	return true;
}

/* What the piece was made from is what is in memory; and none of it is translated. */
static bool same_program(const struct putting *k)
{
	uint8_t now[1024]; /* kept_sound(): no block is longer */
	const uint8_t *made_from = k->of.program;
	for (uint64_t number = k->address >> 12; number <= (k->address + k->of.piece->length - 1) >> 12;
	     number++) {
		const struct page *page = cache_page(number, false);
		if (page && page->first != NONE)
			return false;
	}
	for (uint32_t i = 0; i < k->of.piece->blocks; i++) {
		const struct kept_block *b = &k->of.blocks[i];
		uint64_t pc = k->address + b->offset;
		if (!safe_copy(now, (const void *)pc, b->length) || memcmp(now, made_from, b->length))
			return false;
		made_from += b->length;
	}
	return true;
}

static uint32_t absolute(uint32_t id, uint32_t first) { return id == KEPT_NONE ? NONE : id + first; }

static void put_code(const struct putting *k)
{
	memcpy(k->hot, k->of.code, k->of.piece->code_bytes);
	for (uint32_t i = 0; i < k->of.piece->relocations; i++) {
		uint8_t *at = k->hot + (k->of.relocations[i] & ((1u << KEPT_KIND_SHIFT) - 1));
		uint32_t value;
		memcpy(&value, at, 4);
		switch (k->of.relocations[i] >> KEPT_KIND_SHIFT) {
		case KEPT_COUNTER: value += 16 * k->block; break;
		case KEPT_BLOCK: value += k->block; break;
		case KEPT_EXIT: value += k->exit; break;
		case KEPT_TABLE: value += (uint32_t)(uint64_t)rt.tables; break;
		default: value += (uint32_t)(k->address - (uint64_t)k->hot);
		}
		memcpy(at, &value, 4);
	}
	for (uint32_t i = 0; i < k->of.piece->returns; i++) {
		uint8_t *at = k->hot + k->of.returns[i].at;
		uint64_t pc = k->address + k->of.returns[i].offset;
		k->arena->cold = (uint8_t *)((uint64_t)(k->arena->cold - 8) & ~7ull);
		memcpy(k->arena->cold, &pc, 8);
		uint32_t distance = (uint32_t)(k->arena->cold - (at + 4));
		memcpy(at, &distance, 4);
	}
}

static void put_blocks(const struct putting *k)
{
	const uint8_t *bytes = k->of.program;
	for (uint32_t i = 0; i < k->of.piece->blocks; i++) {
		const struct kept_block *from = &k->of.blocks[i];
		uint32_t id = k->block + i, follows = absolute(from->follows, k->block);
		struct block *b = &rt.blocks[id];
		*b = (struct block){.pc = k->address + from->offset,
				    .code = k->hot + from->code,
				    .code_bytes = from->code_bytes,
				    .incoming = NONE,
				    .exit = {NONE, NONE},
				    .page_next = NONE,
				    .length = from->length,
				    .insns = from->insns,
				    .flags = from->flags & BLOCK_TAIL,
				    .entry_flags_live = from->entry_flags_live,
				    .conditional = from->conditional,
				    .branch = from->branch,
				    .copy = from->copy,
				    .scratch = from->scratch,
				    .depth = from->depth,
				    .no_follower = from->no_follower,
				    .follows = follows,
				    .follower = absolute(from->follower, k->block),
				    .tail_from = absolute(from->tail_from, k->block)};
		b->bytes = record_block_end(id, bytes, from->length, from->insns, from->conditional, follows);
		bytes += from->length;
		if (from->conditional)
			record_edge(id, from->edge == EDGE_FALL ? EDGE_FALL : EDGE_TAKEN);
		cache_enter(id, follows == NONE);
	}
	for (uint32_t i = 0; i < k->of.piece->sites; i++) {
		uint32_t id = k->block + k->of.sites[i].block;
		record_site(id, k->of.sites[i].insn, (enum record_site_kind)k->of.sites[i].kind, id * 2 + 1);
	}
}

static void put_exits(const struct putting *k)
{
	for (uint32_t i = 0; i < k->of.piece->exits; i++) {
		const struct kept_exit *from = &k->of.exits[i];
		uint32_t id = k->exit + i, linked = absolute(from->linked, k->block);
		struct exit *exit = &rt.exits[id];
		*exit = (struct exit){.target = k->address + from->target,
				      .patch = from->patch ? k->hot + from->patch - 1 : NULL,
				      .thunk = from->thunk ? k->hot + from->thunk - 1 : NULL,
				      .block = k->block + from->block,
				      .next = NONE,
				      .linked = NONE,
				      .kind = from->kind};
		rt.exit_count = id + 1;
		if (from->of < 2)
			rt.blocks[exit->block].exit[from->of] = id;
		if (!exit->patch)
			continue;
		exit->stub = emit_stub(k->arena, id);
		uint32_t distance = (uint32_t)(exit->stub - (exit->patch + 4));
		memcpy(exit->patch, &distance, 4);
		if (linked != NONE)
			cache_link(id, linked, exit->thunk ? exit->thunk : rt.blocks[linked].code);
	}
	for (uint32_t i = 0; i < k->of.piece->spans; i++) {
		uint32_t kind = k->of.spans[i].kind_id >> 29, id = k->of.spans[i].kind_id & 0x1fffffff;
		cache_span(k->arena, k->hot + k->of.spans[i].offset, false, (enum span_kind)kind,
			   id + (kind == SPAN_THUNK ? k->exit : k->block));
	}
}

bool kept_install(uint64_t pc)
{
	const struct watched_mapping *region = memory_executable(pc);
	if (!region || region->kept)
		return false;
	((struct watched_mapping *)region)->kept = 1;
	/* as memory_watch() has it; the program's own threads and code are otherwise as for any translation */
	if (region->shared || region->written || (region->protection & PROT_WRITE_) || rt.user_faults ||
	    rt.limited)
		return false;
	const struct kept_piece *p = find(region);
	if (!p || (p->address ? p->address != region->start : region->start < 0x80000000ull))
		return false;
	struct putting k = {.of = kept_parts_of(p)};
	k.address = region->start;
	k.arena = cache_arena(region->start);
	k.hot = (uint8_t *)(((uint64_t)k.arena->hot + KEPT_ALIGN - 1) & ~(uint64_t)(KEPT_ALIGN - 1));
	k.block = rt.block_count, k.exit = rt.exit_count;
	if (k.arena != cache_arena(region->end - 1) || !has_room(&k) || !reached(&k) || !same_program(&k))
		return false;
	put_code(&k);
	k.arena->hot = k.hot + p->code_bytes;
	put_blocks(&k);
	put_exits(&k);
	rt.process->stats[RECORD_STAT_KEPT_BLOCKS] += p->blocks;
	return true;
}

/*
 * Makes pieces: in a process that runs no program, of files that the host names, from hints where blocks begin.
 *
 * What always holds:
 *  1. The process executes nothing of any program: it ends when the pieces are made. And a hint decides what is
 *     translated, never how: all bytes of a piece are the translator's, of the file's bytes.
 *  2. A module's blocks, exits and code are in a row, and none of them leads into another module's.
 *  3. Where a piece cannot hold what was made (kept_refuse), or room runs short, there is none of that module.
 */
#include "engine/runtime/kept/kept.h"

#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"

#define GUARD_BYTES 65536u
#define OUTPUT_BYTES (1ull << 30)
#define RELOCATIONS_MOST (1u << 24)
#define RETURNS_MOST (1u << 22)
#define REACH 0x60000000
#define LOW_BYTES 0x80000000ull /* below, addresses stand in the code itself */

enum { O_NONBLOCK_ = 04000 };

struct noted_return {
	const uint8_t *at;
	uint64_t pc;
};

/* of the process that makes them, which has one thread */
static struct {
	const uint8_t **at; /* of relocations */
	uint8_t *kind;
	struct noted_return *returns;
	uint32_t *ids; /* by hint: its block, or NONE */
	uint32_t relocation_count, return_count;
	uint32_t refused;
	uint8_t *out;
	uint64_t out_bytes;
} making;

/* What a module began with. */
struct module_begun {
	uint64_t address;
	struct code_arena *arena;
	const uint8_t *hot;
	uint32_t block, exit, span, site, relocation, returned;
};

void kept_refuse(void) { making.refused = 1; }

void kept_note_at(const uint8_t *at, enum kept_relocation kind)
{
	if (making.relocation_count == RELOCATIONS_MOST) {
		kept_refuse();
		return;
	}
	making.at[making.relocation_count] = at;
	making.kind[making.relocation_count++] = (uint8_t)kind;
}

void kept_note_return(const uint8_t *at, uint64_t pc)
{
	if (making.return_count == RETURNS_MOST)
		kept_refuse();
	else
		making.returns[making.return_count++] = (struct noted_return){at, pc};
}

/* The file's mapping, with nothing executable beside it; 0: there is none. */
static uint64_t map_module(const struct kept_module *m)
{
	long fd = sys3(SYS_open, m->path, O_NONBLOCK_ | O_CLOEXEC_, 0), at = -1;
	if (failed(fd))
		return 0;
	if (m->address + m->length <= LOW_BYTES) {
		at = sys6(SYS_mmap, m->address, m->length, PROT_READ_ | PROT_EXEC_,
			  MAP_PRIVATE_ | MAP_FIXED_NOREPLACE_, (uint64_t)fd, m->file_offset);
	} else {
		long room = sys6(SYS_mmap, 0, m->length + 2 * GUARD_BYTES, PROT_NONE_,
				 MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
		if (!failed(room))
			at = sys6(SYS_mmap, (uint64_t)room + GUARD_BYTES, m->length, PROT_READ_ | PROT_EXEC_,
				  MAP_PRIVATE_ | MAP_FIXED_, (uint64_t)fd, m->file_offset);
	}
	sys1(SYS_close, fd);
	return failed(at) ? 0 : (uint64_t)at;
}

static bool room(const struct module_begun *begun)
{
	return !making.refused && cache_room(begun->arena) && rt.block_count + 256 < rt.blocks_max &&
	       !record_is_short(AREA_CODE, 1) && !record_is_short(AREA_SITES, sizeof(struct record_site));
}

/* As if a thread had come to pc, by that exit or from elsewhere. */
static void come(struct thread *t, uint64_t pc, uint32_t by)
{
	struct exit exit = by == EXIT_LOOKUP ? (struct exit){0} : rt.exits[by];
	t->pc = pc;
	dispatch_enter(t, by, by == EXIT_LOOKUP ? NULL : &exit);
	t->entering = 0;
}

static void settle_edge(uint32_t id, bool falls)
{
	struct block *b = &rt.blocks[id];
	if (b->conditional && b->edge == EDGE_OPEN)
		record_edge(id, falls ? EDGE_FALL : EDGE_TAKEN);
}

/* The block of a hint that follows another. */
static uint32_t follow(struct thread *t, uint32_t parent, uint64_t pc)
{
	struct block *b = &rt.blocks[parent];
	for (unsigned k = 0; k < 2 && b->follower == NONE; k++) {
		const struct exit *exit = b->exit[k] == NONE ? NULL : &rt.exits[b->exit[k]];
		if (exit && exit->kind <= EXIT_TAKEN && exit->patch && exit->target == pc &&
		    (!b->conditional || (b->edge == EDGE_TAKEN) != (exit->kind == EXIT_TAKEN)))
			come(t, pc, b->exit[k]);
	}
	return b->follower != NONE && rt.blocks[b->follower].pc == pc ? b->follower : NONE;
}

static void translate_hints(struct thread *t, const struct kept_module *m, const struct kept_hint *hints,
			    const struct module_begun *begun)
{
	for (uint32_t i = 0; i < m->n && room(begun); i++) {
		const struct kept_hint *h = &hints[m->first + i];
		uint64_t pc = begun->address + h->offset;
		uint32_t parent = h->follows < i ? making.ids[h->follows] : NONE, id;
		if (h->offset >= m->length) {
			id = NONE;
		} else if (h->follows != KEPT_NONE) {
			id = parent == NONE ? NONE : follow(t, parent, pc);
		} else {
			if (cache_find(0, pc) == NONE)
				come(t, pc, EXIT_LOOKUP);
			id = cache_find(0, pc);
		}
		making.ids[i] = id;
		if (id != NONE && id >= begun->block)
			settle_edge(id, h->falls);
	}
}

/* Ways that lead to a block of the module are linked, as when they are gone for the first time. */
static void link_exits(struct thread *t, const struct module_begun *begun)
{
	uint32_t blocks = rt.block_count, exits = rt.exit_count;
	for (uint32_t id = begun->block; id < blocks; id++)
		settle_edge(id, false);
	for (uint32_t x = begun->exit; x < exits && room(begun); x++) {
		const struct exit *exit = &rt.exits[x];
		const struct block *owner = &rt.blocks[exit->block];
		if (exit->kind > EXIT_TAKEN || !exit->patch || exit->linked != NONE || exit->target == owner->pc)
			continue;
		uint32_t to = cache_find(0, exit->target);
		if (to != NONE && to >= begun->block && owner->follower == NONE)
			come(t, exit->target, x);
		else if (to != NONE && to >= begun->block && owner->conditional &&
			 (owner->edge == EDGE_TAKEN) == (exit->kind == EXIT_TAKEN))
			come(t, exit->target, x);
	}
}

static uint32_t relative(uint32_t id, uint32_t first) { return id == NONE ? KEPT_NONE : id - first; }

static bool write_blocks(const struct module_begun *begun, uint8_t **to, uint32_t n, uint32_t *program_bytes)
{
	struct kept_block *k = (struct kept_block *)*to;
	*program_bytes = 0;
	for (uint32_t i = 0; i < n; i++, k++) {
		const struct block *b = &rt.blocks[begun->block + i];
		if (!(b->flags & BLOCK_LIVE) ||
		    (b->flags & (BLOCK_CHECKED | BLOCK_EVENT | BLOCK_STALE | BLOCK_ENTRY_IN_FRONT)) || !b->insns ||
		    b->context || b->code < begun->hot || b->code_bytes > 0xffff || b->indirect)
			return false;
		*k = (struct kept_block){.offset = (uint32_t)(b->pc - begun->address),
					 .code = (uint32_t)(b->code - begun->hot),
					 .follows = relative(b->follows, begun->block),
					 .follower = relative(b->follower, begun->block),
					 .tail_from = relative(b->tail_from, begun->block),
					 .length = b->length,
					 .insns = b->insns,
					 .code_bytes = (uint16_t)b->code_bytes,
					 .flags = b->flags & BLOCK_TAIL,
					 .entry_flags_live = b->entry_flags_live,
					 .conditional = b->conditional,
					 .branch = b->branch,
					 .copy = b->copy,
					 .edge = b->edge,
					 .scratch = b->scratch,
					 .depth = b->depth,
					 .no_follower = b->no_follower};
		*program_bytes += b->length;
	}
	*to = (uint8_t *)k;
	return true;
}

static void write_exits(const struct module_begun *begun, uint8_t **to, uint32_t n)
{
	struct kept_exit *k = (struct kept_exit *)*to;
	for (uint32_t i = 0; i < n; i++, k++) {
		const struct exit *exit = &rt.exits[begun->exit + i];
		const struct block *b = &rt.blocks[exit->block];
		*k = (struct kept_exit){.target = exit->target - begun->address,
					.patch = exit->patch ? (uint32_t)(exit->patch - begun->hot) + 1 : 0,
					.thunk = exit->thunk ? (uint32_t)(exit->thunk - begun->hot) + 1 : 0,
					.linked = relative(exit->linked, begun->block),
					.block = exit->block - begun->block,
					.kind = exit->kind,
					.of = b->exit[0] == begun->exit + i   ? 0
					      : b->exit[1] == begun->exit + i ? 1
									      : 2};
	}
	*to = (uint8_t *)k;
}

static void write_spans(const struct module_begun *begun, uint8_t **to, uint32_t n)
{
	struct kept_span *k = (struct kept_span *)*to;
	uint32_t from = (uint32_t)(begun->hot - begun->arena->base);
	for (uint32_t i = 0; i < n; i++, k++) {
		const struct code_span *span = &begun->arena->hot_spans[begun->span + i];
		uint32_t kind = span->kind_id >> 29, id = span->kind_id & 0x1fffffff;
		k->offset = span->offset - from;
		k->kind_id = kind << 29 | (id - (kind == SPAN_THUNK ? begun->exit : begun->block));
	}
	*to = (uint8_t *)k;
}

static uint32_t load32(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, 4);
	return value;
}

static void store32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }

/* The code as it is wherever the piece will be: see enum kept_relocation. */
static bool write_code(const struct module_begun *begun, uint8_t *code)
{
	for (uint32_t i = begun->relocation; i < making.relocation_count; i++) {
		uint8_t *at = code + (making.at[i] - begun->hot);
		uint32_t value = load32(at);
		int64_t distance = (int64_t)(int32_t)value + (int64_t)(uint64_t)begun->hot -
				   (int64_t)begun->address;
		switch (making.kind[i]) {
		case KEPT_COUNTER: value -= 16 * begun->block; break;
		case KEPT_BLOCK: value -= begun->block; break;
		case KEPT_EXIT: value -= begun->exit; break;
		case KEPT_TABLE: value -= (uint32_t)(uint64_t)rt.tables; break;
		default: /* nearer than place_counter() and cache_arena() allow, as install.c asks for */
			if (distance != (int32_t)distance || (int32_t)load32(at) >= REACH ||
			    (int32_t)load32(at) <= -REACH)
				return false;
			value = (uint32_t)distance;
		}
		store32(at, value);
	}
	return true;
}

static bool write_piece(const struct kept_module *m, const struct module_begun *begun)
{
	uint8_t *to = making.out + making.out_bytes;
	struct kept_piece *p = (struct kept_piece *)to;
	uint64_t code_bytes = (uint64_t)(begun->arena->hot - begun->hot);
	*p = (struct kept_piece){.length = m->length,
				 .file_offset = m->file_offset,
				 .address = m->address + m->length <= LOW_BYTES ? m->address : 0,
				 .blocks = rt.block_count - begun->block,
				 .exits = rt.exit_count - begun->exit,
				 .spans = begun->arena->hot_count - begun->span,
				 .relocations = making.relocation_count - begun->relocation,
				 .returns = making.return_count - begun->returned,
				 .sites = rt.areas[AREA_SITES].count - begun->site,
				 .code_bytes = (uint32_t)code_bytes};
	if (!p->blocks || code_bytes >= 1u << KEPT_KIND_SHIFT ||
	    making.out_bytes + p->blocks * 1024ull + code_bytes * 8 + sizeof *p > OUTPUT_BYTES)
		return false;
	memcpy(p->exe, m->exe, sizeof p->exe);
	memcpy(p->path, m->path, sizeof p->path);
	p->exe[sizeof p->exe - 1] = p->path[sizeof p->path - 1] = 0;
	to += sizeof *p;
	if (!write_blocks(begun, &to, p->blocks, &p->program_bytes))
		return false;
	write_exits(begun, &to, p->exits);
	write_spans(begun, &to, p->spans);
	for (uint32_t i = begun->relocation; i < making.relocation_count; i++, to += 4)
		store32(to, (uint32_t)(making.at[i] - begun->hot) | (uint32_t)making.kind[i] << KEPT_KIND_SHIFT);
	for (uint32_t i = begun->returned; i < making.return_count; i++, to += 8) {
		store32(to, (uint32_t)(making.returns[i].at - begun->hot));
		store32(to + 4, (uint32_t)(making.returns[i].pc - begun->address));
	}
	for (uint32_t i = begun->site; i < rt.areas[AREA_SITES].count; i++, to += sizeof(struct kept_site)) {
		const struct record_site *site = &rt.record_sites[i];
		struct kept_site kept = {site->block - begun->block, site->insn, site->kind};
		memcpy(to, &kept, sizeof kept);
	}
	memcpy(to, begun->hot, code_bytes);
	if (!write_code(begun, to))
		return false;
	to += code_bytes;
	for (uint32_t i = 0; i < p->blocks; i++) {
		const struct block *b = &rt.blocks[begun->block + i];
		memcpy(to, b->bytes, b->length);
		to += b->length;
	}
	p->bytes = ((uint64_t)(to - (uint8_t *)p) + KEPT_ALIGN - 1) & ~(uint64_t)(KEPT_ALIGN - 1);
	making.out_bytes += p->bytes;
	return true;
}

static void make_module(struct thread *t, const struct kept_module *m, const struct kept_hint *hints)
{
	uint64_t address = map_module(m);
	if (!address)
		return;
	struct code_arena *arena = cache_arena(address);
	if (!memory_executable(address) || arena != cache_arena(address + m->length - 1))
		return;
	arena->hot = (uint8_t *)(((uint64_t)arena->hot + KEPT_ALIGN - 1) & ~(uint64_t)(KEPT_ALIGN - 1));
	struct module_begun begun = {address,
				     arena,
				     arena->hot,
				     rt.block_count,
				     rt.exit_count,
				     arena->hot_count,
				     rt.areas[AREA_SITES].count,
				     making.relocation_count,
				     making.return_count};
	making.refused = 0;
	translate_hints(t, m, hints, &begun);
	link_exits(t, &begun);
	if (room(&begun) && !rt.generation)
		write_piece(m, &begun);
}

void kept_make(struct thread *t)
{
	const struct record_head *setup = rt.setup;
	const struct kept_module *modules = (const struct kept_module *)(rt.image + setup->make);
	const struct kept_hint *hints = (const struct kept_hint *)(modules + setup->make_modules);
	making.at = memory_private((uint64_t)RELOCATIONS_MOST * sizeof *making.at);
	making.kind = memory_private(RELOCATIONS_MOST);
	making.returns = memory_private((uint64_t)RETURNS_MOST * sizeof *making.returns);
	making.ids = memory_private((uint64_t)(setup->make_hints + 1) * sizeof *making.ids);
	making.out = memory_private(OUTPUT_BYTES);
	rt.making = 1;
	lock();
	for (uint32_t i = 0; i < setup->make_modules; i++)
		if (modules[i].first <= setup->make_hints && modules[i].n <= setup->make_hints - modules[i].first)
			make_module(t, &modules[i], hints);
	unlock();
	struct record_area area;
	void *to = making.out_bytes ? record_area(&area, making.out_bytes, 0) : NULL;
	if (to) {
		memcpy(to, making.out, making.out_bytes);
		rt.process->kept_bytes = making.out_bytes;
		rt.process->kept = area.offset;
	}
	sys1(SYS_exit_group, 0); /* nothing is executed here: 1 */
	__builtin_unreachable();
}

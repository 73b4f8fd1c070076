/*
 * The code cache: which blocks there are, where their code is, how they lead to each other, and how they leave
 * again.
 *
 *     known ──translate──► live ──(code changed, unmapped)──► dropped ──translate──► live
 *                            └────────────flush──────────────► known
 *
 * What always holds (all under rt.lock):
 *  1. Code in the cache is written before anything leads to it, and its room is not used again before a flush, in
 *     which no other thread is in the cache. A thread inside a dropped block leaves it by the block's exits.
 *  2. An exit leads to its own stub or to a live block (or to the thunk in front of one); block.incoming has every
 *     such exit.
 *  3. rt.map has one number for each address and context, the newest. A block is only led to from blocks of its
 *     own context.
 *  4. A page's list has every live block that begins there, and each number once at most: one that was dropped
 *     from elsewhere (tail_from) stays in it, and may become live again in its old place.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/emit.h"

#define ROOM_BYTES 40960u
#define MAP_FIRST (1u << 12) /* slots; it grows. Small: a short program touches all of its pages */
#define ARENA_REACH 0x70000000ll

/* Addresses of one line of code are near each other: what is looked for next is often what follows. */
static uint32_t map_hash(uint32_t context, uint64_t pc)
{
	uint64_t line = ((pc >> 6) + context * 0xbf58476d1ce4e5b9u) * 0x9e3779b97f4a7c15u;
	return ((uint32_t)(line >> 32) << 3 | (uint32_t)(pc >> 3 & 7)) & rt.map_mask;
}

/* A slot whose pc is 0 is empty; a jump to address 0 looks at slot 0 alone, and finds the way to the runtime
 * there. */
static void second_empty(struct second *slot)
{
	__atomic_store_n(&slot->pc, 0, __ATOMIC_RELEASE);
	if (slot == rt.second || slot == rt.second_regions)
		__atomic_store_n(&slot->entry, (uint64_t)&runtime_miss_tail, __ATOMIC_RELEASE);
}

static void tables_clear(void)
{
	for (uint32_t i = 0; i < 3 * TABLE_SLOTS; i++)
		rt.tables[i] = (uint64_t)&runtime_miss;
	for (uint32_t i = 0; i <= rt.second_mask && rt.second_used; i++)
		rt.second[i].pc = 0;
	second_empty(&rt.second[0]);
	for (uint32_t i = 0; i < SECOND_SLOTS && rt.second_regions && rt.second_used; i++)
		rt.second_regions[i].pc = 0;
	if (rt.second_regions)
		second_empty(&rt.second_regions[0]);
	rt.second_used = 0;
}

static uint32_t second_hash(uint32_t context, uint64_t pc)
{
	return ((uint32_t)pc ^ context_salt(context)) * 0x9e3779b1u >> 14;
}

static struct second *second_slot(uint32_t context, uint64_t pc)
{
	uint32_t hash = second_hash(context, pc);
	return context ? &rt.second_regions[hash] : &rt.second[hash & rt.second_mask];
}

/* To `slots`, whose first ones are in place already: a pair stays where it is or moves up. Under one thread,
   which is not in the cache: the others read table and mask one after the other. */
void second_grow(uint32_t slots)
{
	uint32_t old = rt.second_mask + 1;
	if (slots <= old || rt.live_threads > 1)
		return;
	memory_fill(rt.second + old, (uint64_t)(slots - old) * sizeof *rt.second);
	rt.second_mask = slots - 1;
	rt.second_used = 1;
	for (uint32_t i = 0; i < old; i++) {
		struct second *from = &rt.second[i];
		if (!from->pc)
			continue;
		rt.second_used++;
		struct second *to = second_slot(0, from->pc);
		if (to == from)
			continue;
		*to = *from;
		second_empty(from);
	}
	for (uint32_t i = 0; i < rt.slots_max && rt.threads && rt.threads[i]; i++)
		rt.threads[i]->second_mask = rt.second_mask;
}

static void *fixed_memory(uint64_t at, uint64_t bytes, uint32_t protection)
{
	long p = sys6(SYS_mmap, at, bytes, protection,
		      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_FIXED_NOREPLACE_ | MAP_NORESERVE_, (uint64_t)-1, 0);
	if (p == (long)at)
		return (void *)p;
	if (!failed(p))
		sys2(SYS_munmap, p, bytes);
	return NULL;
}

/* Below 2 GB, not in [start, end): first in few places, high above a heap, then in whatever hole there is, the one
   below the usual beginning of programs included. */
static void *low_memory(uint64_t bytes, uint64_t start, uint64_t end)
{
	void *p = NULL;
	for (uint64_t at = 0x7fc00000, by = 0x4000000; at >= 0x10000 && !p; at -= by) {
		if (at >= end || at + bytes <= start)
			p = fixed_memory(at, bytes, PROT_READ_ | PROT_WRITE_);
		if (at <= 0x10000000 && by == 0x4000000)
			at = 0x7ff00000, by = 0x80000;
		if (at <= 0x400000)
			by = 0x10000;
	}
	return p;
}

static bool tables_map(uint64_t start, uint64_t end)
{
	void *tables = low_memory(TABLES_BYTES, start, end);
	if (!tables)
		return false;
	if (rt.tables)
		sys2(SYS_munmap, rt.tables, TABLES_BYTES);
	rt.tables = tables;
	/* one huge page, if there is one: 0.2 ms instead of 0.6 */
	sys3(SYS_madvise, rt.tables, TABLES_BYTES, MADV_HUGEPAGE_);
	memory_fill(rt.tables, TABLES_USED);
	return true;
}

bool cache_start(void)
{
	rt.map_mask = MAP_FIRST - 1;
	rt.map = memory_private((uint64_t)(rt.map_mask + 1) * sizeof *rt.map);
	memory_fill(rt.map, (uint64_t)(rt.map_mask + 1) * sizeof *rt.map);
	rt.blocks = memory_private((uint64_t)rt.blocks_max * sizeof *rt.blocks);
	memory_huge(rt.blocks, (uint64_t)rt.blocks_max * sizeof *rt.blocks);
	rt.exits_max = (uint32_t)(rt.arena_bytes / 32);
	rt.exits = memory_private((uint64_t)rt.exits_max * sizeof *rt.exits);
	memory_huge(rt.exits, (uint64_t)rt.exits_max * sizeof *rt.exits);
	rt.exit_count = 1; /* 0 is EXIT_LOOKUP */
	rt.page_mask = 4095;
	rt.pages = memory_private(4096 * sizeof *rt.pages);
	if (!tables_map(0, 0))
		return false;
	rt.second = memory_private(SECOND_SLOTS * sizeof *rt.second);
	rt.second_mask = SECOND_FIRST - 1;
	memory_fill(rt.second, SECOND_FIRST * sizeof *rt.second);
	tables_clear();
	return true;
}

/* The map holds numbers plus one, so that fresh memory is empty. */
uint32_t cache_known(uint32_t context, uint64_t pc)
{
	for (uint32_t i = map_hash(context, pc); rt.map[i].id; i = (i + 1) & rt.map_mask)
		if (rt.map[i].pc == pc && rt.map[i].context == context)
			return rt.map[i].id - 1;
	return NONE;
}

uint32_t cache_find(uint32_t context, uint64_t pc)
{
	uint32_t id = cache_known(context, pc);
	return id != NONE && (rt.blocks[id].flags & BLOCK_LIVE) ? id : NONE;
}

struct page *cache_page(uint64_t number, bool make)
{
	uint32_t i = (uint32_t)((number * 0x9e3779b97f4a7c15u) >> 40) & rt.page_mask;
	for (; rt.pages[i].number; i = (i + 1) & rt.page_mask)
		if (rt.pages[i].number == number)
			return &rt.pages[i];
	if (!make)
		return NULL;
	if (rt.page_count * 2 > rt.page_mask) {
		struct page *old = rt.pages;
		uint32_t old_mask = rt.page_mask;
		rt.page_mask = old_mask * 2 + 1;
		rt.pages = memory_private((uint64_t)(rt.page_mask + 1) * sizeof *rt.pages);
		for (uint32_t k = 0; k <= old_mask; k++)
			if (old[k].number) {
				uint32_t j = (uint32_t)((old[k].number * 0x9e3779b97f4a7c15u) >> 40) &
					     rt.page_mask;
				while (rt.pages[j].number)
					j = (j + 1) & rt.page_mask;
				rt.pages[j] = old[k];
			}
		sys2(SYS_munmap, old, (uint64_t)(old_mask + 1) * sizeof *old);
		return cache_page(number, true);
	}
	rt.page_count++;
	rt.pages[i] = (struct page){.number = number, .first = NONE};
	return &rt.pages[i];
}

static void map_grow(void)
{
	struct block_key *old = rt.map;
	uint32_t n = rt.map_mask + 1;
	rt.map_mask = n * 2 - 1;
	rt.map = memory_private((uint64_t)n * 2 * sizeof *rt.map);
	memory_huge(rt.map, (uint64_t)n * 2 * sizeof *rt.map);
	memory_fill(rt.map, (uint64_t)n * 2 * sizeof *rt.map);
	for (uint32_t k = 0; k < n; k++)
		if (old[k].id) {
			uint32_t i = map_hash(old[k].context, old[k].pc);
			while (rt.map[i].id)
				i = (i + 1) & rt.map_mask;
			rt.map[i] = old[k];
		}
	sys2(SYS_munmap, old, (uint64_t)n * sizeof *old);
}

void cache_enter(uint32_t id, bool in_map)
{
	struct block *b = &rt.blocks[id];
	if (in_map) {
		uint32_t i = map_hash(b->context, b->pc);
		while (rt.map[i].id && (rt.map[i].pc != b->pc || rt.map[i].context != b->context))
			i = (i + 1) & rt.map_mask;
		rt.map_count += !rt.map[i].id;
		rt.map[i] = (struct block_key){b->pc, id + 1, b->context};
		if (rt.map_count * 2 > rt.map_mask)
			map_grow();
	}
	if (!(b->flags & BLOCK_LISTED)) {
		struct page *page = cache_page(b->pc >> 12, true);
		b->page_next = page->first;
		page->first = id;
	}
	b->flags |= BLOCK_LIVE | BLOCK_LISTED;
}

/* ---- arenas ----------------------------------------------------------------------------------- */

static void arena_reset(struct code_arena *a)
{
	uint8_t *p = a->base;
	/* of the indirect entries: rcx = target - pc, rax = -pc, and rcx is to be the target (cache/recover.c
	   knows the state behind each instruction) */
	encode_not(&p, X86_RAX);
	encode_lea_scaled(&p, X86_RCX, X86_RCX, X86_RAX, 1, 1, false);
	encode_jump_gs(&p, AT_MISS_ENTRY);
	p = a->base + ARENA_REGION;
	encode_jump_gs(&p, AT_REGION_TAIL);
	p = a->base + ARENA_INLINE;
	encode_jump_gs(&p, AT_INLINE_ENTRY);
	a->miss_check = a->base + ARENA_MISS;
	a->hot = a->base + ARENA_FIRST;
	a->cold = a->end;
	a->hot_count = a->cold_count = 0;
}

static bool arena_reaches(const struct code_arena *a, uint64_t pc)
{
	int64_t d = (int64_t)(pc - (uint64_t)a->base), e = (int64_t)(pc - (uint64_t)a->end);
	return d > -ARENA_REACH && d < ARENA_REACH && e > -ARENA_REACH && e < ARENA_REACH;
}

struct code_arena *cache_arena(uint64_t pc)
{
	for (uint32_t i = 0; i < rt.arena_count; i++)
		if (arena_reaches(&rt.arena[i], pc))
			return &rt.arena[i];
	if (rt.arena_count == ARENAS)
		return &rt.arena[ARENAS - 1];
	long p = -1;
	uint64_t from = pc & ~0xffffffull;
	/* below the program, or well above its heap; of the first one newer kernels align what they choose, and
	 * libraries would lie elsewhere */
	if (rt.arena_count || rt.served)
		for (int k = 1; k < 16 && failed(p); k++) {
			uint64_t at = k < 5 ? from - (uint64_t)k * 0x4000000
					    : from + 0x30000000 + (uint64_t)k * 0x4000000;
			if (at > from && k < 5)
				continue;
			if (at < 0x1000000 || at > 0x7fffffffffffull)
				continue;
			void *there = fixed_memory(at, rt.arena_bytes, 7);
			p = there ? (long)there : -1;
		}
	if (failed(p))
		p = sys6(SYS_mmap, 0, rt.arena_bytes, PROT_READ_ | PROT_WRITE_ | PROT_EXEC_,
			 MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
	if (failed(p)) {
		if (rt.arena_count)
			return &rt.arena[0];
		die("no memory for the code cache", pc);
	}
	struct code_arena *a = &rt.arena[rt.arena_count++];
	a->base = (uint8_t *)p;
	a->end = a->base + rt.arena_bytes;
	a->spans_max = (uint32_t)(rt.arena_bytes / 16);
	memory_huge(a->base, rt.arena_bytes);
	a->hot_spans = memory_private((uint64_t)a->spans_max * sizeof *a->hot_spans);
	a->cold_spans = memory_private((uint64_t)a->spans_max * sizeof *a->cold_spans);
	arena_reset(a);
	return a;
}

struct code_arena *arena_of(const uint8_t *code)
{
	for (uint32_t i = 0; i < rt.arena_count; i++)
		if (code >= rt.arena[i].base && code < rt.arena[i].end)
			return &rt.arena[i];
	return NULL;
}

void cache_span(struct code_arena *a, uint8_t *at, bool cold, enum span_kind kind, uint32_t id)
{
	struct code_span span = {(uint32_t)(at - a->base), (uint32_t)kind << 29 | id};
	if (cold)
		a->cold_spans[a->cold_count++] = span;
	else
		a->hot_spans[a->hot_count++] = span;
}

bool cache_room(const struct code_arena *a)
{
	return a->cold - a->hot > (long)ROOM_BYTES && a->hot_count + 64 < a->spans_max &&
	       a->cold_count + 256 < a->spans_max && rt.exit_count + 64 < rt.exits_max;
}

/* ---- exits ------------------------------------------------------------------------------------ */

uint32_t cache_exit(uint64_t target, uint32_t block, enum exit_kind kind, struct code_arena *a)
{
	(void)a;
	uint32_t id = rt.exit_count++;
	rt.exits[id] = (struct exit){
		.target = target, .block = block, .next = NONE, .linked = NONE, .kind = (uint8_t)kind};
	struct block *b = &rt.blocks[block];
	b->exit[b->exit[0] != NONE] = id;
	return id;
}

static void patch(struct exit *exit, const uint8_t *to)
{
	int32_t displacement = (int32_t)(to - (exit->patch + 4));
	__atomic_store_n((int32_t *)exit->patch, displacement, __ATOMIC_RELEASE);
}

void cache_link(uint32_t id, uint32_t block, const uint8_t *to)
{
	struct exit *exit = &rt.exits[id];
	if (!exit->patch || exit->linked != NONE)
		return;
	int64_t distance = to - (exit->patch + 4);
	if (distance != (int32_t)distance)
		return;
	exit->linked = block;
	exit->next = rt.blocks[block].incoming;
	rt.blocks[block].incoming = id;
	patch(exit, to);
}

static void table_entries(uint64_t pc, uint64_t *slot[3])
{
	slot[TABLE_RETURN] = &rt.tables[pc & 0xffff];
	slot[TABLE_JUMP] = &rt.tables[TABLE_SLOTS + (pc & 0xffff)];
	slot[TABLE_CALL] = &rt.tables[2 * TABLE_SLOTS + (rt.has_bmi2 ? call_index(pc) : pc & 0xffff)];
}

void cache_table(uint32_t id, unsigned which)
{
	struct block *b = &rt.blocks[id];
	uint64_t *slot[3];
	if (!b->indirect)
		b->indirect = emit_indirect_entry(arena_of(b->code), id);
	if (!b->context) {
		table_entries(b->pc, slot);
		__atomic_store_n(slot[which], (uint64_t)b->indirect, __ATOMIC_RELEASE);
	}
	/* the entry compares the address again: a pair that is torn by another thread does no harm */
	if (rt.second_used > rt.second_mask / 4)
		second_grow((rt.second_mask + 1) * 4 < SECOND_SLOTS ? (rt.second_mask + 1) * 4 : SECOND_SLOTS);
	struct second *second = second_slot(b->context, b->pc);
	rt.second_used += !rt.second_used || (!b->context && !second->pc);
	__atomic_store_n(&second->pc, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&second->entry, (uint64_t)b->indirect, __ATOMIC_RELEASE);
	__atomic_store_n(&second->pc, b->pc ^ context_key(b->context), __ATOMIC_RELEASE);
}

void cache_drop(uint32_t id)
{
	while (id != NONE) {
		struct block *b = &rt.blocks[id];
		if (!(b->flags & BLOCK_LIVE))
			return;
		b->flags &= (uint8_t)~BLOCK_LIVE;
		if (rt.live_threads > 1)
			b->flags |= BLOCK_STALE;
		for (uint32_t i = b->incoming; i != NONE;) {
			struct exit *exit = &rt.exits[i];
			i = exit->next;
			exit->linked = NONE;
			exit->next = NONE;
			patch(exit, exit->stub);
		}
		b->incoming = NONE;
		if (b->indirect) {
			uint64_t *slot[3];
			table_entries(b->pc, slot);
			struct second *second = second_slot(b->context, b->pc);
			if (second->entry == (uint64_t)b->indirect)
				second_empty(second);
			for (int k = 0; k < 3; k++)
				if (*slot[k] == (uint64_t)b->indirect)
					__atomic_store_n(slot[k], (uint64_t)&runtime_miss, __ATOMIC_RELEASE);
		}
		id = b->tail_from; /* its code falls into this one's */
	}
}

static void drop_in_page(struct page *page, uint64_t from, uint64_t to)
{
	uint32_t *link = &page->first;
	while (*link != NONE) {
		struct block *b = &rt.blocks[*link];
		bool hit = b->pc < to && b->pc + (b->length ? b->length : 1u) > from;
		if (!hit && (b->flags & BLOCK_LIVE)) {
			link = &b->page_next;
			continue;
		}
		uint32_t id = *link;
		*link = b->page_next;
		b->flags &= (uint8_t)~BLOCK_LISTED;
		if (hit)
			cache_drop(id);
	}
}

void cache_drop_range(uint64_t from, uint64_t to)
{
	uint64_t first = (from >> 12) - 1, last = (to - 1) >> 12; /* a block may begin in the page before */
	if (last - first > rt.page_mask) {
		for (uint32_t i = 0; i <= rt.page_mask; i++)
			if (rt.pages[i].number >= first && rt.pages[i].number <= last && rt.pages[i].number)
				drop_in_page(&rt.pages[i], from, to);
		return;
	}
	for (uint64_t number = first; number <= last; number++) {
		struct page *page = cache_page(number, false);
		if (page)
			drop_in_page(page, from, to);
	}
}

/* Nothing leads on any more: a thread in the cache comes out at the next exit. */
void cache_unlink_all(void)
{
	for (uint32_t i = 1; i < rt.exit_count; i++)
		if (rt.exits[i].linked != NONE) {
			rt.exits[i].linked = NONE;
			patch(&rt.exits[i], rt.exits[i].stub);
		}
	for (uint32_t i = 0; i < rt.block_count; i++)
		rt.blocks[i].incoming = NONE;
	tables_clear();
}

static void empty(void)
{
	rt.exit_count = 1;
	for (uint32_t i = 0; i < rt.arena_count; i++)
		arena_reset(&rt.arena[i]);
	tables_clear();
}

/* Empties the cache. Every other thread is outside, and will look for its code again. */
void cache_flush(struct thread *t)
{
	if (rt.live_threads > 1) {
		cache_unlink_all();
		world_stop(t, true);
	}
	rt.generation++;
	rt.process->stats[RECORD_STAT_FLUSHES]++;
	for (uint32_t i = 0; i < rt.block_count; i++) {
		struct block *b = &rt.blocks[i];
		b->flags &= BLOCK_LEADER;
		b->code = b->indirect = NULL;
		b->incoming = b->page_next = b->tail_from = NONE;
		b->exit[0] = b->exit[1] = NONE;
	}
	for (uint32_t i = 0; i <= rt.page_mask; i++)
		rt.pages[i].first = NONE;
	empty();
}

static bool between(uint64_t at, uint64_t bytes, uint64_t start, uint64_t end)
{
	return at < end && at + bytes > start;
}

/* An arena's code is gone (cache_flush). It may be out of reach of the program's data afterwards, which takes
 * longer ways then. */
static bool arena_move(struct code_arena *a, uint64_t start, uint64_t end)
{
	uint64_t place = memory_place(rt.arena_bytes);
	if (between(place, rt.arena_bytes, start, end))
		return false;
	void *p = fixed_memory(place, rt.arena_bytes, 7);
	if (!p)
		return false;
	sys2(SYS_munmap, a->base, rt.arena_bytes);
	a->base = p;
	a->end = a->base + rt.arena_bytes;
	arena_reset(a);
	return true;
}

/* The program is to have [start, end). */
bool cache_move(struct thread *t, uint64_t start, uint64_t end)
{
	bool tables = between((uint64_t)rt.tables, TABLES_BYTES, start, end), any = tables, moved = false;
	for (uint32_t i = 0; i < rt.arena_count; i++)
		any |= between((uint64_t)rt.arena[i].base, rt.arena_bytes, start, end);
	if (!any)
		return false;
	cache_flush(t);
	if (tables && tables_map(start, end)) {
		moved = true;
		rt.second_used = 1;
		tables_clear();
	}
	for (uint32_t i = 0; i < rt.arena_count; i++)
		if (between((uint64_t)rt.arena[i].base, rt.arena_bytes, start, end))
			moved |= arena_move(&rt.arena[i], start, end);
	return moved;
}

/* Keeps only what is known of pages that are, or have been, written to. */
static void forget_pages(void)
{
	struct page *old = rt.pages;
	uint32_t n = rt.page_mask + 1;
	rt.page_mask = 4095;
	rt.page_count = 0;
	rt.pages = memory_private(4096 * sizeof *rt.pages);
	for (uint32_t i = 0; i < n; i++)
		if (old[i].number && (old[i].state != PAGE_CLEAN || old[i].faults)) {
			struct page *page = cache_page(old[i].number, true);
			page->state = old[i].state;
			page->faults = old[i].faults;
		}
	sys2(SYS_munmap, old, (uint64_t)n * sizeof *old);
}

/* A new part of the record: as if no block had ever been. Every other thread is outside, as for a flush. */
void cache_forget(void)
{
	rt.generation++;
	rt.block_count = 0;
	if (failed(sys3(SYS_madvise, rt.blocks, (uint64_t)rt.blocks_max * sizeof *rt.blocks,
			MADV_DONTNEED_))) /* zeros */
		memset(rt.blocks, 0, (uint64_t)rt.blocks_max * sizeof *rt.blocks);
	sys2(SYS_munmap, rt.map, (uint64_t)(rt.map_mask + 1) * sizeof *rt.map);
	rt.map_mask = MAP_FIRST - 1;
	rt.map = memory_private((uint64_t)(rt.map_mask + 1) * sizeof *rt.map);
	rt.map_count = 0;
	forget_pages();
	empty();
}

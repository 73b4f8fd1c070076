/* The map from addresses to data objects against a plain array of who lives where; allocation functions as the stream shows them. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "model/core/model.h"
#include "model/core/objects/objects.h"
#include "tap.h"

#define WATCHES 2u
#define SPACE 65536u /* granules of the reference, from BASE on */
#define BASE 0x7f0000000000ull

static struct record_objects *record_new(void)
{
	struct record_objects layout = {0};
	record_objects_lay_out(&layout, WATCHES);
	void *p = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);
	if (p == MAP_FAILED)
		exit(2);
	*(struct record_objects *)p = layout;
	return p;
}

static void *reserve(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		exit(2);
	return p;
}

static struct objects *objects_with(uint64_t pool, struct record_objects *record)
{
	return objects_init(reserve(objects_bytes(pool)), objects_bytes(pool), record);
}

static const struct record_object_site *sites(const struct record_objects *r)
{
	return (const struct record_object_site *)((const uint8_t *)r + r->sites);
}

/* The number of the site that an address counts for; 1000000 + cell for static data. */
static uint64_t who(struct objects *o, const struct record_objects *r, uint64_t address)
{
	const uint64_t *at = objects_counts(o, address),
		       *first = (const uint64_t *)((const uint8_t *)r + r->site_counts);
	const uint64_t *cells = (const uint64_t *)((const uint8_t *)r + r->cell_counts);
	return at >= cells ? 1000000 + (uint64_t)(at - cells) / WATCHES : (uint64_t)(at - first) / WATCHES;
}

static uint64_t state = 88172645463325252u;
static uint64_t draw(void)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return state;
}

/* What the stream shows of `result = function(first, second)` called from `from`. */
static void enter(struct objects *o, struct object_calls *c, enum trace_allocation function, uint64_t first,
		  uint64_t second, uint64_t slot, uint64_t from)
{
	struct trace_item item = {.kind = TRACE_VALUE, .scale = function};
	const uint64_t values[] = {first, second, 100, slot};
	objects_called(o, c, slot, from);
	for (unsigned i = 0; i < 4; i++) {
		item.lanes = (uint8_t)i;
		objects_value(o, c, &item, values[i]);
	}
}

static void leave(struct objects *o, struct object_calls *c, uint64_t result, uint64_t slot)
{
	const struct trace_item item = {.kind = TRACE_VALUE, .lanes = TRACE_VALUE_RESULT};
	objects_value(o, c, &item, result);
	objects_returned(o, c, slot);
}

static void allocate(struct objects *o, struct object_calls *c, enum trace_allocation function, uint64_t first,
		     uint64_t second, uint64_t result, uint64_t from)
{
	enter(o, c, function, first, second, 0x1000, from);
	leave(o, c, result, 0x1000);
}

static void heap(void)
{
	struct record_objects *r = record_new();
	struct objects *o = objects_with(16 << 20, r);
	struct object_calls *c = reserve(object_calls_bytes());
	equal_u64(who(o, r, BASE), OBJECT_UNKNOWN, "memory that nobody named is unknown");
	objects_called(o, c, 0x2000, 0x400010); /* main calls … */
	allocate(o, c, TRACE_MALLOC, 100, 0, BASE, 0x400020);
	uint64_t site = who(o, r, BASE);
	ok(site >= OBJECT_FIRST_SITE && sites(r)[site].kind == OBJECT_HEAP && sites(r)[site].blocks == 1 &&
		   sites(r)[site].bytes == 100,
	   "a block is its site's");
	ok(sites(r)[site].n_frames == 2 && sites(r)[site].frames[0] == 0x400020 &&
		   sites(r)[site].frames[1] == 0x400010,
	   "which is the stack of calls, the innermost first");
	ok(who(o, r, BASE + 99) == site && who(o, r, BASE + 104) == OBJECT_UNKNOWN &&
		   who(o, r, BASE - 1) == OBJECT_UNKNOWN,
	   "it has its bytes, up to the granule's end, and no others");
	allocate(o, c, TRACE_MALLOC, 24, 0, BASE + 104, 0x400020);
	ok(who(o, r, BASE + 104) == site && sites(r)[site].blocks == 2,
	   "another block of the same stack is of the same site");
	allocate(o, c, TRACE_CALLOC, 4, 8, BASE + 4096, 0x400030);
	uint64_t other = who(o, r, BASE + 4096 + 31);
	ok(other != site && sites(r)[other].bytes == 32,
	   "calloc's size is a product, and another call another site");
	allocate(o, c, TRACE_FREE, BASE, 0, 0, 0x400040);
	ok(who(o, r, BASE) == OBJECT_ALLOCATOR && who(o, r, BASE + 96) == OBJECT_ALLOCATOR,
	   "what is freed is the allocator's");
	equal_u64(who(o, r, BASE + 104), site, "the neighbour of the same site lives on");
	allocate(o, c, TRACE_REALLOC, BASE + 104, 64, BASE + 8192, 0x400050);
	ok(who(o, r, BASE + 104) == OBJECT_ALLOCATOR && sites(r)[who(o, r, BASE + 8192 + 63)].bytes == 64,
	   "realloc moves a block");
	allocate(o, c, TRACE_REALLOC, BASE + 8192, 16, BASE + 8192, 0x400050);
	ok(who(o, r, BASE + 8192) >= OBJECT_FIRST_SITE && who(o, r, BASE + 8192 + 16) == OBJECT_ALLOCATOR,
	   "or shrinks it in place");
	allocate(o, c, TRACE_REALLOC, BASE + 8192, 1ull << 60, 0, 0x400050);
	ok(who(o, r, BASE + 8192) >= OBJECT_FIRST_SITE, "one that failed leaves it alone");
	allocate(o, c, TRACE_ALIGNED, 4096, 10, BASE + 16384, 0x400060);
	ok(sites(r)[who(o, r, BASE + 16384)].bytes == 10, "aligned_alloc's size is its second argument");
	allocate(o, c, TRACE_MALLOC, 0, 0, BASE + 20000, 0x400070);
	ok(who(o, r, BASE + 20000) >= OBJECT_FIRST_SITE, "malloc(0) is a block, too");
	allocate(o, c, TRACE_MALLOC, 1ull << 62, 0, 0, 0x400080);
	equal_u64(who(o, r, 0), OBJECT_UNKNOWN, "malloc that failed made none");
	allocate(o, c, TRACE_CALLOC, 1ull << 40, 1ull << 40, BASE + 24000, 0x400090);
	equal_u64(who(o, r, BASE + 24000), OBJECT_UNKNOWN, "nor does a product that does not fit");

	/* an allocation function that calls another is one allocation */
	enter(o, c, TRACE_CALLOC, 1, 40, 0x1000, 0x4000a0);
	enter(o, c, TRACE_MALLOC, 56, 0, 0xf80, 0x500000);
	leave(o, c, BASE + 30000, 0xf80);
	leave(o, c, BASE + 30008, 0x1000);
	uint64_t nested = who(o, r, BASE + 30008);
	ok(sites(r)[nested].bytes == 40 && sites(r)[nested].frames[0] == 0x4000a0 &&
		   who(o, r, BASE + 30000) == OBJECT_UNKNOWN,
	   "of nested allocation functions the outermost counts");
	/* one that never returned (longjmp out of it) */
	enter(o, c, TRACE_MALLOC, 64, 0, 0x900, 0x4000b0);
	allocate(o, c, TRACE_MALLOC, 8, 0, BASE + 40000, 0x4000c0);
	ok(sites(r)[who(o, r, BASE + 40000)].frames[0] == 0x4000c0 &&
		   sites(r)[who(o, r, BASE + 40000)].n_frames == 2,
	   "one that was left without a return is forgotten, and its calls with it");
	/* and by a jump: it returns to the caller's caller; what was called before and left by longjmp is no part of the stack */
	objects_called(o, c, 0x1000, 0x4000d0);
	objects_called(o, c, 0x800, 0x700000);
	struct trace_item stack = {.kind = TRACE_VALUE, .scale = TRACE_MALLOC, .lanes = TRACE_VALUE_STACK};
	objects_value(o, c, &stack, 0x1000);
	leave(o, c, BASE + 45000, 0x1000);
	equal_u64(sites(r)[who(o, r, BASE + 45000)].frames[0], 0x4000d0, "one that was jumped to is its caller's");
	objects_returned(o, c, 0x2000);
	allocate(o, c, TRACE_MALLOC, 8, 0, BASE + 50000, 0x4000c0);
	equal_u64(sites(r)[who(o, r, BASE + 50000)].n_frames, 1, "a return takes its call from the stack");
	for (unsigned i = 0; i < 10000; i++)
		objects_called(o, c, 0x100000 - 16 * i, 0x600000 + i);
	enter(o, c, TRACE_MALLOC, 8, 0, 0x100, 0x4000d0);
	leave(o, c, BASE + 60000, 0x100);
	const struct record_object_site *deep = &sites(r)[who(o, r, BASE + 60000)];
	ok(deep->n_frames == RECORD_OBJECT_FRAMES && deep->frames[1] == 0x600000 + 9999 &&
		   deep->frames[9] == 0x600000 + 9991,
	   "of a deep recursion the innermost calls are kept");
	for (unsigned i = 10000; i-- > 0;)
		objects_returned(o, c, 0x100000 - 16 * i);
	allocate(o, c, TRACE_MALLOC, 8, 0, BASE + 60000, 0x4000e0);
	equal_u64(sites(r)[who(o, r, BASE + 60000)].n_frames, 1, "and when it has returned, none");
}

static void stored(struct objects *o, struct object_calls *c, uint64_t value, uint64_t address)
{
	struct trace_item item = {.kind = TRACE_VALUE, .lanes = TRACE_VALUE_STORED};
	objects_value(o, c, &item, value);
	item.lanes = TRACE_VALUE_STORED_AT;
	objects_value(o, c, &item, address);
}

/* posix_memalign(where, alignment, bytes): what it stores there is the block, if it returns 0. */
static void stored_results(void)
{
	struct record_objects *r = record_new();
	struct objects *o = objects_with(16 << 20, r);
	struct object_calls *c = reserve(object_calls_bytes());
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t where = 0x7ffe0000, block = BASE + i * 4096;
		enter(o, c, TRACE_POSIX_MEMALIGN, where, 64, 0x1000, 0x400000 + i);
		if (i != 2)
			stored(o, c, block, where);
		stored(o, c, block + 64, where + 8);
		/* an int: what is above it says nothing */
		leave(o, c, (uint64_t)0xabcdef << 32 | (i == 1 ? 12 : 0), 0x1000);
		if (i == 0)
			ok(sites(r)[who(o, r, block)].kind == OBJECT_HEAP &&
				   sites(r)[who(o, r, block)].frames[0] == 0x400000 &&
				   who(o, r, block + 99) == who(o, r, block),
			   "posix_memalign's block is where it stored its address");
		if (i == 1)
			ok(who(o, r, block) == OBJECT_UNKNOWN && !r->unseen, "if it failed there is none");
		if (i == 2)
			ok(who(o, r, block) == OBJECT_UNKNOWN && who(o, r, block + 64) == OBJECT_UNKNOWN &&
				   r->unseen == 1,
			   "what it stores elsewhere is no block, and one without an address is said to be "
			   "missing");
	}
	stored(o, c, BASE + 0x100000, 0x7ffe0000);
	equal_u64(who(o, r, BASE + 0x100000), OBJECT_UNKNOWN, "a store outside of the function is none of its");
	/* what it maps is the heap's, and only while it runs */
	enter(o, c, TRACE_MALLOC, 100, 0, 0x1000, 0x400100);
	objects_mapped(o, c, BASE + 0x200000, 0x10000);
	equal_u64(who(o, r, BASE + 0x200000), OBJECT_ALLOCATOR,
		  "what an allocation function maps is the allocator's");
	leave(o, c, BASE + 0x200010, 0x1000);
	ok(who(o, r, BASE + 0x200010) >= OBJECT_FIRST_SITE && who(o, r, BASE + 0x200000) == OBJECT_ALLOCATOR,
	   "but for the block that it gives out");
	objects_mapped(o, c, BASE + 0x300000, 0x10000);
	ok(sites(r)[who(o, r, BASE + 0x300000)].kind == OBJECT_MAPPING, "other mappings are objects of their own");
	enter(o, c, TRACE_MALLOC, 100, 0, 0x1000, 0x400100); /* left by longjmp */
	objects_called(o, c, 0x2000, 0x400200);
	objects_mapped(o, c, BASE + 0x400000, 0x10000);
	ok(sites(r)[who(o, r, BASE + 0x400000)].kind == OBJECT_MAPPING,
	   "also when an allocation function was left without a return");
}

/* What calloc and realloc write to their block before they return it. */
static void written_inside(void)
{
	struct record_objects *r = record_new();
	struct objects *o = objects_with(16 << 20, r);
	struct object_calls *c = reserve(object_calls_bytes());
	const struct trace_item result = {.kind = TRACE_VALUE, .lanes = TRACE_VALUE_RESULT};
	objects_set(o, BASE, 1 << 20, OBJECT_ALLOCATOR);
	enter(o, c, TRACE_CALLOC, 10, 100, 0x1000, 0x400000);
	objects_charge(o, c, BASE + 8, 0, 3); /* its own words */
	objects_value(o, c, &result, BASE + 0x8000);
	objects_charge(o, c, BASE + 0x8010, 1, 7); /* what was returned inside, and is not given out */
	objects_value(o, c, &result, BASE + 0x1000);
	objects_charge(o, c, BASE + 0x1000 - 8, 0, 1); /* a word in front of the block */
	objects_charge(o, c, BASE + 0x1000, 0, 10);
	objects_value(o, c, &result, 1);
	objects_charge(o, c, BASE + 0x1000 + 999, 1, 20);
	objects_charge(o, c, BASE + 0x1000 + 1000, 1, 2);
	equal_u64(objects_counts_of(o, OBJECT_ALLOCATOR)[0], 14,
		  "until calloc returns what it touches is the allocator's");
	leave(o, c, BASE + 0x1000, 0x1000);
	const uint64_t *block = objects_counts(o, BASE + 0x1000), *heap = objects_counts_of(o, OBJECT_ALLOCATOR);
	ok(block[0] == 10 && block[1] == 20 && heap[0] == 4 && heap[1] == 9,
	   "then what it cleared is the block's, and nothing else");
	enter(o, c, TRACE_REALLOC, BASE + 0x1000, 5000, 0x1000, 0x400001);
	objects_value(o, c, &result, BASE + 0x4000);
	objects_charge(o, c, BASE + 0x1000, 0, 100); /* read from the old one */
	objects_charge(o, c, BASE + 0x4000, 0, 50);
	leave(o, c, BASE + 0x5000, 0x1000);
	ok(block[0] == 110 && heap[0] == 54 && objects_counts(o, BASE + 0x5000)[0] == 0,
	   "realloc's writes elsewhere are the allocator's, its reads the old block's");
	enter(o, c, TRACE_REALLOC, BASE + 0x5000, 5000, 0x1000, 0x400002);
	objects_value(o, c, &result, BASE + 0x6000);
	objects_charge(o, c, BASE + 0x6000 + 4999, 1, 8);
	leave(o, c, BASE + 0x6000, 0x1000);
	ok(objects_counts(o, BASE + 0x6000)[1] == 8 && heap[1] == 9,
	   "realloc's writes to the new block are the block's");
	enter(o, c, TRACE_MALLOC, 5000, 0, 0x1000, 0x400003);
	objects_value(o, c, &result, BASE + 0x9000);
	objects_charge(o, c, BASE + 0x9000, 0, 6);
	leave(o, c, BASE + 0x9000, 0x1000);
	ok(objects_counts(o, BASE + 0x9000)[0] == 0 && heap[0] == 60,
	   "malloc writes nothing to a block: it is the allocator's");
	enter(o, c, TRACE_CALLOC, 1, 64, 0x1000, 0x400004);
	objects_value(o, c, &result, BASE + 0xc000);
	objects_charge(o, c, BASE + 0xc000, 0, 5);
	heap = objects_counts_of(o, OBJECT_ALLOCATOR);
	struct record_objects *child = record_new();
	objects_move(o, child);
	leave(o, c, BASE + 0xc000, 0x1000);
	ok(objects_counts_of(o, OBJECT_ALLOCATOR)[0] == 0 && objects_counts(o, BASE + 0xc000)[0] == 0 &&
		   heap[0] == 65,
	   "a fork's child takes nothing from what its parent counted");
}

static const struct record_object_segment *segments(const struct record_objects *r)
{
	return (const struct record_object_segment *)((const uint8_t *)r + r->segments);
}

static void threads(void)
{
	struct record_objects *r = record_new();
	struct objects *o = objects_with(64 << 20, r);
	const uint64_t first = BASE + 0x100000, second = BASE + 0x900000;
	objects_set(o, second - 0x10000, 0x11000, OBJECT_STACK);
	objects_thread_local(o, first, 64, 64);
	equal_u64(who(o, r, first - 1), OBJECT_UNKNOWN, "before a module is named no thread has a block");
	/* 52 bytes from 60 below the pointer on: not at a multiple of 8; the library's are 12 in front of them, in the same granule */
	objects_thread_module(o, 60, 52, "/bin/prog");
	objects_thread_module(o, 72, 12, "/lib/library");
	for (unsigned i = 0; i < 2; i++) {
		objects_thread_local(o, i ? second : first, 60, 52);
		objects_thread_local(o, i ? second : first, 72, 12);
	}
	ok(r->n_segments == 3 && segments(r)[0].elf == OBJECT_FILE_THREADS &&
		   segments(r)[1].elf == OBJECT_FILE_THREAD && segments(r)[1].start == 60,
	   "thread-local storage is a segment, and each module's part of it another");
	bool apart = true;
	for (uint64_t at = 0; at < 52; at++)
		apart &= who(o, r, first - 60 + at) == 1000000 + segments(r)[1].first_cell + at &&
			 who(o, r, second - 60 + at) == who(o, r, first - 60 + at);
	for (uint64_t at = 0; at < 12; at++)
		apart &= who(o, r, second - 72 + at) == 1000000 + segments(r)[2].first_cell + at;
	ok(apart, "every byte has its cell, the same one in every thread, and no module has another's");
	ok(segments(r)[2].first_cell >= segments(r)[0].first_cell &&
		   segments(r)[1].first_cell + 52 <= segments(r)[0].first_cell + segments(r)[0].length &&
		   r->n_cells >= segments(r)[0].first_cell + segments(r)[0].length,
	   "the modules' cells are cells of the segment");
	ok(who(o, r, second + 8) == OBJECT_STACK && who(o, r, second - 80) == OBJECT_STACK,
	   "what is around a block stays what it was");
	struct object_calls *c = reserve(object_calls_bytes());
	allocate(o, c, TRACE_FREE, second - 56, 0, 0, 0x400000);
	ok(who(o, r, second - 56) >= 1000000, "no free() is about it");
	ok(!objects_segment_before(o, second - 8), "and it is no file's mapping");
	objects_set(o, second - 0x1000, 0x1000, OBJECT_UNKNOWN);
	ok(who(o, r, second - 8) == OBJECT_UNKNOWN && who(o, r, first - 16) >= 1000000,
	   "a thread's block goes with its memory");
	objects_thread_module(o, 3u << 20, 2u << 20, "/lib/huge");
	objects_thread_local(o, first + (8 << 20), 3u << 20, 2u << 20);
	equal_u64(who(o, r, first + (6 << 20)), OBJECT_UNKNOWN,
		  "a block that is larger than the cells is left alone");
}

static void against_an_array(void)
{
	static uint32_t reference[SPACE];
	struct record_objects *r = record_new();
	struct objects *o = objects_with(64 << 20, r);
	struct object_calls *c = reserve(object_calls_bytes());
	// clang-format off: a table, a row a line
	struct {
		uint64_t start, length;
		uint32_t site;
	} live[512] = {{0, 0, 0}};
	// clang-format on
	bool same = true;
	for (unsigned step = 0; step < 4000 && same; step++) {
		unsigned i = (unsigned)(draw() % 512);
		if (draw() % 16 == 0) { /* a mapping comes or goes, over whatever is there */
			uint64_t start = draw() % (SPACE / 512) * 4096, length = (1 + draw() % 40) * 4096;
			if (start + length > SPACE * 8)
				length = SPACE * 8 - start;
			bool comes = draw() & 1;
			if (comes)
				objects_mapped(o, c, BASE + start, length);
			else
				objects_set(o, BASE + start, length, OBJECT_UNKNOWN);
			uint32_t value = comes ? (uint32_t)who(o, r, BASE + start) : OBJECT_UNKNOWN;
			same &= !comes || sites(r)[value].kind == OBJECT_MAPPING;
			for (uint64_t g = start / 8; g < (start + length) / 8; g++)
				reference[g] = value;
			for (unsigned k = 0; k < 512; k++)
				if (live[k].length && live[k].start < BASE + start + length &&
				    live[k].start + live[k].length > BASE + start)
					live[k].length = 0; /* it would be an error to free it */
			continue;
		}
		if (live[i].length) {
			allocate(o, c, TRACE_FREE, live[i].start, 0, 0, 1);
			for (uint64_t g = (live[i].start - BASE) / 8;
			     g < (live[i].start - BASE + live[i].length + 7) / 8; g++)
				reference[g] = OBJECT_ALLOCATOR;
			live[i].length = 0;
		}
		uint64_t length = draw() % 8 ? 1 + draw() % 200 : 1 + draw() % 30000,
			 start = BASE + draw() % (SPACE - length / 8 - 1) * 8;
		bool free = true;
		for (unsigned k = 0; k < 512; k++)
			free &= !live[k].length || live[k].start >= start + ((length + 7) & ~7ull) ||
				live[k].start + ((live[k].length + 7) & ~7ull) <= start;
		if (!free)
			continue;
		allocate(o, c, TRACE_MALLOC, length, 0, start, 0x400000 + draw() % 20);
		live[i].start = start, live[i].length = length, live[i].site = (uint32_t)who(o, r, start);
		same &= sites(r)[live[i].site].kind == OBJECT_HEAP;
		for (uint64_t g = (start - BASE) / 8; g < (start - BASE + length + 7) / 8; g++)
			reference[g] = live[i].site;
		if (step % 50 == 0)
			for (uint64_t g = 0; g < SPACE && same; g++)
				same = who(o, r, BASE + g * 8 + draw() % 8) == reference[g];
	}
	for (uint64_t g = 0; g < SPACE && same; g++)
		same = who(o, r, BASE + g * 8) == reference[g];
	ok(same,
	   "of thousands of blocks and mappings that come and go each granule is whose the plain array says");
	ok(!r->incomplete, "in little room");
}

static void static_data(void)
{
	struct record_objects *r = record_new();
	struct objects *o = objects_with(16 << 20, r);
	objects_file(o, BASE, 8192, 0x3000, OBJECT_FILE_WRITABLE, "/bin/prog");
	objects_file(o, BASE + 8192, 4096, RECORD_OBJECT_NO_FILE, OBJECT_FILE_WRITABLE, "/bin/prog");
	objects_file(o, BASE + 0x100000000ull, 64ull << 20, 0, OBJECT_FILE_WRITABLE, "/lib/large.so");
	objects_file(o, BASE + 0x200000000ull, 4096, 0, OBJECT_FILE_OTHER, "/data");
	equal_u64(who(o, r, BASE + 5), 1000005, "static data is counted by the byte");
	equal_u64(who(o, r, BASE + 8192), 1000000 + 8192, "zeroed memory goes on behind the file's");
	equal_u64(who(o, r, BASE + 0x100000000ull + 16) - who(o, r, BASE + 0x100000000ull), 2,
		  "large data by eight bytes");
	equal_u64(who(o, r, BASE + 0x200000000ull), who(o, r, BASE + 0x200000000ull + 4095),
		  "a file that is no program's is one object");
	const struct record_object_segment *before = objects_segment_before(o, BASE + 8192 + 4096);
	ok(before && before->start == BASE + 8192 && before->file_offset == RECORD_OBJECT_NO_FILE,
	   "who ends at an address is known");
	ok(!objects_segment_before(o, BASE), "and nobody where nobody does");
	objects_set(o, BASE, 8192, OBJECT_UNKNOWN);
	equal_u64(who(o, r, BASE + 5), OBJECT_UNKNOWN, "what was unmapped is unknown again");
	objects_stack(o, BASE - 4096, 8192);
	ok(who(o, r, BASE - 4097) == OBJECT_STACK && who(o, r, BASE - 4096) == OBJECT_UNKNOWN &&
		   who(o, r, BASE - 12289) == OBJECT_UNKNOWN,
	   "a stack has its bytes");
	uint64_t cells = r->n_cells;
	for (unsigned i = 0; i < 200; i++)
		objects_file(o, BASE + 0x300000000ull + i * 0x100000ull, 0x100000, 0, OBJECT_FILE_WRITABLE,
			     "/many");
	ok(r->n_cells > cells && r->n_cells <= RECORD_OBJECT_CELLS,
	   "when there is no room for cells a file has one");
}

static void no_room(void)
{
	struct record_objects *r = record_new();
	struct objects *o = objects_with(64 << 10, r);
	struct object_calls *c = reserve(object_calls_bytes());
	allocate(o, c, TRACE_MALLOC, 16, 0, BASE, 1);
	ok(!r->incomplete && who(o, r, BASE) >= OBJECT_FIRST_SITE, "a little room is enough for a block");
	for (unsigned i = 1; i < 200; i++)
		allocate(o, c, TRACE_MALLOC, 16, 0, BASE + i * 0x10000000ull, 1);
	ok(r->incomplete && who(o, r, BASE) == OBJECT_UNKNOWN,
	   "without room everything is unknown, and the record says so");
	r = record_new();
	o = objects_with(256 << 10, r);
	for (unsigned i = 0; i < 20000; i++) {
		allocate(o, c, TRACE_MALLOC, 40, 0, BASE + i % 7 * 4096, 1);
		objects_set(o, BASE, 64 << 20, OBJECT_UNKNOWN);
	}
	ok(!r->incomplete, "room that is free again is used again");
	r = record_new();
	o = objects_with(64 << 20, r);
	for (unsigned i = 0; i < RECORD_OBJECT_SITES + 10; i++)
		allocate(o, c, TRACE_MALLOC, 8, 0, BASE + i * 16, 0x400000 + i);
	ok(who(o, r, BASE) == OBJECT_FIRST_SITE &&
		   who(o, r, BASE + (RECORD_OBJECT_SITES + 9) * 16ull) == OBJECT_OTHERS,
	   "sites beyond the most are the others");
}

static void moved(void)
{
	struct record_objects *r = record_new(), *child = record_new();
	struct objects *o = objects_with(16 << 20, r);
	struct object_calls *c = reserve(object_calls_bytes());
	allocate(o, c, TRACE_MALLOC, 100, 0, BASE, 0x400000);
	objects_file(o, BASE + 0x100000, 4096, 0, OBJECT_FILE_WRITABLE, "/bin/prog");
	objects_counts(o, BASE)[0] = 7;
	uint64_t site = who(o, r, BASE);
	objects_move(o, child);
	equal_u64(who(o, child, BASE), site, "a fork's child has its parent's objects");
	ok(objects_counts(o, BASE)[0] == 0 && sites(child)[site].frames[0] == 0x400000 &&
		   sites(child)[site].blocks == 0,
	   "with counts of its own, that begin at 0");
	ok(child->n_sites == r->n_sites && child->n_segments == 1 && who(o, child, BASE + 0x100000) == 1000000,
	   "and its static data");
}

/* ---- with a model: random blocks, once by the models' quick way and once step by step ---- */

enum { BLOCKS = 60, ITEMS = 6, VALUES = 6, RUNS = 20000 };

struct random_program {
	struct trace_block blocks[BLOCKS];
	struct trace_item items[BLOCKS * ITEMS];
	uint64_t entries[RUNS * (VALUES + 1)];
	size_t n;
};

static struct machine small_machine(void)
{
	// clang-format off: a table, a row a line
	struct machine m = {.name = "small",
			    .cores = 1,
			    .fetch_bytes = 16,
			    .seed = 1,
			    .n_caches = 3,
			    .n_tlbs = 1,
			    .first_instruction = 0,
			    .first_data = 1,
			    .first_instruction_tlb = MACHINE_NONE,
			    .first_data_tlb = 0};
	// clang-format on
	for (unsigned i = 0; i < 3; i++)
		// clang-format off: a table, a row a line
		m.caches[i] = (struct machine_cache){.line_bytes = i == 2 ? 64 : 32,
						     .sets = i == 2 ? 64 : 16,
						     .ways = 2,
						     .write_allocate = 1,
						     .holds = i == 0   ? MACHINE_INSTRUCTIONS
							      : i == 1 ? MACHINE_DATA
								       : MACHINE_INSTRUCTIONS | MACHINE_DATA,
						     .rrip_bits = 2,
						     .next = i == 2 ? MACHINE_NONE : 2};
	// clang-format on
	m.tlbs[0] = (struct machine_tlb){
		.sets = 1, .ways = 8, .pages_per_entry = 1, .holds = MACHINE_DATA, .next = MACHINE_NONE};
	return m;
}

static uint64_t somewhere(void)
{
	static const uint64_t bases[] = {BASE,           BASE + 0x1000,  BASE + 0x10000,
					 BASE + 0x10ff0, 0x7ffe00000000, 0x7ffe00000f00};
	return bases[draw() % 6] + draw() % 600;
}

static void make_program(struct random_program *p)
{
	static const enum trace_ending endings[] = {TRACE_END_NONE,   TRACE_END_CONDITIONAL,
						    TRACE_END_CALL,   TRACE_END_INDIRECT_CALL,
						    TRACE_END_RETURN, TRACE_END_JUMP};
	for (unsigned b = 0; b < BLOCKS; b++) {
		struct trace_block *block = &p->blocks[b];
		*block = (struct trace_block){.pc = 0x400000 + draw() % 4096,
					      .first_item = b * ITEMS,
					      .values = VALUES,
					      .length = (uint16_t)(20 + draw() % 60),
					      .insns = 8,
					      .ending = (uint8_t)endings[draw() % 6],
					      .ending_length = 2};
		bool allocates = draw() % 6 == 0;
		block->items = allocates ? 4 : (uint16_t)(draw() % (ITEMS + 1));
		for (unsigned i = 0; i < block->items; i++) {
			struct trace_item *item = &p->items[b * ITEMS + i];
			*item = (struct trace_item){.displacement = (int64_t)(draw() % 48),
						    .bytes = (uint16_t)(1u << draw() % 4),
						    .offset = (uint16_t)(i * 3),
						    .kind = draw() % 2 ? TRACE_READ : TRACE_WRITE,
						    .value = (uint8_t)(draw() % 3),
						    .second = TRACE_NO_VALUE,
						    .insn = (uint8_t)i};
			if (draw() % 4 == 0) {
				item->value = TRACE_NO_VALUE;
				item->displacement = (int64_t)(BASE + draw() % 64);
			}
			if (allocates)
				*item = (struct trace_item){.kind = TRACE_VALUE,
							    .value = (uint8_t)i,
							    .lanes = (uint8_t)i,
							    .scale = (uint8_t)(draw() % 5),
							    .second = TRACE_NO_VALUE,
							    .bytes = 8};
		}
		if (!allocates && block->ending == TRACE_END_RETURN && block->items > 1)
			// clang-format off: a table, a row a line
			p->items[b * ITEMS] = (struct trace_item){.kind = TRACE_VALUE,
								  .value = 3,
								  .lanes = TRACE_VALUE_RESULT,
								  .second = TRACE_NO_VALUE,
								  .bytes = 8};
		// clang-format on
	}
	p->n = 0;
	for (unsigned i = 0; i < RUNS; i++) {
		p->entries[p->n++] = draw() % BLOCKS;
		for (unsigned v = 0; v < VALUES; v++)
			p->entries[p->n++] = draw() % 8 == 0 ? draw() % 300 : somewhere();
	}
}

struct ran {
	struct record_objects *record;
	uint64_t *items, *blocks;
	struct model_counts counts;
};

static struct ran run_program(const struct random_program *p, bool filters)
{
	static const struct model_watch watches[WATCHES] = {{MODEL_CACHE, 1, CACHE_READ_MISSES, 0},
							    {MODEL_TLB, 0, TLB_WRITE_MISSES, 0}};
	const struct machine machine = small_machine();
	const struct model_options options = {.no_branches = 1, .no_filters = !filters};
	const struct trace_program program = {p->blocks, p->items};
	struct ran ran = {.record = record_new(),
			  .items = calloc(BLOCKS * ITEMS * WATCHES, 8),
			  .blocks = calloc(BLOCKS * WATCHES, 8)};
	struct model *model = model_init(reserve(model_bytes(&machine, &options)), &machine, &options);
	struct objects *o = objects_with(64 << 20, ran.record);
	struct model_counts *counts = reserve(sizeof *counts);
	objects_file(o, BASE, 4096, 0, OBJECT_FILE_WRITABLE, "/bin/prog");
	objects_mapped(o, NULL, BASE + 0x10000, 4096);
	objects_stack(o, 0x7ffe00001000, 4096);
	model_core_init(model, 0, reserve(model_core_bytes(&machine, &options)), counts);
	model_watch(model, watches, WATCHES, ran.items, ran.blocks);
	model_objects(model, o);
	model_core_calls(model, 0, reserve(object_calls_bytes()));
	model_run(model, 0, &program, p->entries, p->n, 0);
	ran.counts = *counts;
	return ran;
}

static void under_a_model(void)
{
	static struct random_program p;
	bool same = true, sums = true;
	uint64_t misses = 0, sites_most = 0, heap_counts = 0;
	for (unsigned round = 0; round < 20 && same && sums; round++) {
		make_program(&p);
		struct ran quick = run_program(&p, true), slow = run_program(&p, false);
		const uint64_t *a = (const uint64_t *)((const uint8_t *)quick.record + quick.record->site_counts);
		const uint64_t *b = (const uint64_t *)((const uint8_t *)slow.record + slow.record->site_counts);
		const uint64_t *c = (const uint64_t *)((const uint8_t *)quick.record + quick.record->cell_counts);
		const uint64_t *d = (const uint64_t *)((const uint8_t *)slow.record + slow.record->cell_counts);
		uint64_t sum[WATCHES] = {0};
		/* all that the machine counts: not how many accesses the filters decided */
		same = quick.record->n_sites == slow.record->n_sites &&
		       memcmp(&quick.counts, &slow.counts, offsetof(struct model_counts, filter)) == 0 &&
		       memcmp(quick.items, slow.items, BLOCKS * ITEMS * WATCHES * 8) == 0;
		for (uint64_t i = 0; i < (uint64_t)quick.record->n_sites * WATCHES; i++) {
			same &= a[i] == b[i];
			sum[i % WATCHES] += a[i];
			heap_counts += sites(quick.record)[i / WATCHES].kind == OBJECT_HEAP ? a[i] : 0;
		}
		for (uint64_t i = 0; i < quick.record->n_cells * WATCHES; i++) {
			same &= c[i] == d[i];
			sum[i % WATCHES] += c[i];
		}
		sums = sum[0] == quick.counts.cache[1][CACHE_READ_MISSES] &&
		       sum[1] == quick.counts.tlb[0][TLB_WRITE_MISSES];
		misses += sum[0];
		sites_most = quick.record->n_sites > sites_most ? quick.record->n_sites : sites_most;
		munmap(quick.record, quick.record->bytes);
		munmap(slow.record, slow.record->bytes);
		free(quick.items), free(quick.blocks);
		free(slow.items), free(slow.blocks);
	}
	ok(same, "filters change no object's count");
	ok(sums && misses > 1000 && heap_counts > 100 && sites_most > 10,
	   "every miss is of one object, heap blocks among them");
}

int main(void)
{
	heap();
	stored_results();
	written_inside();
	threads();
	against_an_array();
	static_data();
	no_room();
	moved();
	under_a_model();
	return done();
}

/* The shared record: areas of the record's file, and what is appended to them. What always holds: an entry is
   complete before its area's count includes it. */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

struct runtime rt;

/* gcc calls these by name */
void *memset(void *to, int byte, size_t n)
{
	void *result = to;
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
	return result;
}

void *memcpy(void *to, const void *from, size_t n)
{
	void *result = to;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return result;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

static size_t append(char *to, size_t at, size_t most, const char *text)
{
	while (*text && at < most - 1)
		to[at++] = *text++;
	to[at] = 0;
	return at;
}

static size_t append_hex(char *to, size_t at, size_t most, uint64_t value)
{
	char digits[19] = "0x";
	int n = 2, shift = 60;
	while (shift > 0 && !(value >> shift & 15))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		digits[n++] = "0123456789abcdef"[value >> shift & 15];
	digits[n] = 0;
	return append(to, at, most, digits);
}

static void set_inexact(struct record_process *process, const char *why, bool has_pc, uint64_t pc)
{
	uint32_t none = 0;
	/* 2 while the text is written: non-zero already, so that nothing passes for exact meanwhile */
	if (!__atomic_compare_exchange_n(&process->inexact, &none, 2, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	size_t n = append(process->reason, 0, sizeof process->reason, why);
	if (has_pc) {
		n = append(process->reason, n, sizeof process->reason, " at ");
		append_hex(process->reason, n, sizeof process->reason, pc);
	}
	__atomic_store_n(&process->inexact, 1, __ATOMIC_RELEASE);
}

void inexact(const char *why) { set_inexact(rt.process, why, false, 0); }
void inexact_process(struct record_process *process, const char *why) { set_inexact(process, why, false, 0); }
void inexact_at(const char *why, uint64_t pc) { set_inexact(rt.process, why, true, pc); }

void die(const char *why, uint64_t pc)
{
	char text[600];
	size_t n = 0;
	if (rt.process)
		inexact_at(why, pc);
	n = append(text, n, sizeof text, "tare: engine: ");
	n = append(text, n, sizeof text, why);
	n = append(text, n, sizeof text, " at ");
	n = append_hex(text, n, sizeof text, pc);
	if (rt.path[0]) {
		n = append(text, n, sizeof text, " in ");
		n = append(text, n, sizeof text, rt.path);
	}
	n = append(text, n, sizeof text, "\n");
	sys3(SYS_write, STDERR_, text, n);
	sys1(SYS_exit_group, 125);
	__builtin_unreachable();
}

/* The attendant serves requests. If it was killed, the kernel has said so (RECORD_DIED). */
bool attendant_lives(void)
{
	struct record_head *s = rt.record;
	if (__atomic_load_n(&s->attendant_life, __ATOMIC_ACQUIRE) & RECORD_DIED)
		__atomic_store_n(&s->attendant_pid, 0, __ATOMIC_RELEASE);
	return __atomic_load_n(&s->attendant_pid, __ATOMIC_ACQUIRE) != 0;
}

/* The attendant is to look at process->ask. */
void request(struct record_process *process)
{
	struct record_head *s = rt.record;
	uint32_t ticket = __atomic_fetch_add(&s->requests, 1, __ATOMIC_ACQ_REL);
	uint32_t index = (uint32_t)(process - (struct record_process *)((uint8_t *)s + RECORD_PROCESSES_OFFSET));
	__atomic_store_n(&s->queue[ticket % RECORD_QUEUE], index + 1, __ATOMIC_RELEASE);
	sys3(SYS_futex, &s->requests, FUTEX_WAKE_, FUTEX_ALL_WAITERS); /* shared */
}

/* Where the engine asks for its own mappings: below all that the kernel places for the program, whose own
   addresses are then the same whatever is counted. Only a wish. */
uint64_t memory_place(uint64_t bytes)
{
	uint64_t before = __atomic_fetch_add(&rt.placed, (bytes + 0xffff) & ~0xffffull, __ATOMIC_RELAXED);
	limits_grew();
	return OWN_WINDOW + before;
}

void *memory_private(uint64_t bytes)
{
	long p = sys6(SYS_mmap, memory_place(bytes), bytes, PROT_READ_ | PROT_WRITE_,
		      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
	if (failed(p))
		die("no memory for the engine's own tables", bytes);
	own_add((uint64_t)p, bytes);
	return (void *)p;
}

void memory_fill(void *at, uint64_t bytes)
{
	if (!rt.calls_denied)
		sys3(SYS_madvise, at, bytes, MADV_POPULATE_WRITE_);
}

#define HUGE_PAGE (2ull << 20)
#define SMALL_PAGES (1ull << 20) /* at each end: a short program fills no huge one */

void memory_huge(void *at, uint64_t bytes)
{
	uint64_t from = ((uint64_t)at + SMALL_PAGES + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1),
		 to = ((uint64_t)at + bytes - SMALL_PAGES) & ~(HUGE_PAGE - 1);
	if (bytes >= 2 * HUGE_PAGE && from < to && !rt.calls_denied)
		sys3(SYS_madvise, from, to - from, MADV_HUGEPAGE_);
}

uint64_t record_reserve(uint64_t bytes)
{
	bytes = (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1);
	uint64_t offset = __atomic_fetch_add(&rt.record->next_offset, bytes, __ATOMIC_RELAXED);
	if (offset % RECORD_PAGE || offset < RECORD_SPACE_OFFSET || offset > RECORD_FILE_BYTES ||
	    bytes > RECORD_FILE_BYTES - offset)
		die("the record was written over", offset);
	return offset;
}

/* rt.base, always at the same address, becomes the page of the record's file at `offset`, by duplicating a mapping
   of what lies before it. No more than a stride is ever mapped for nothing on the way, whatever lies between. */
static bool base_at(uint64_t offset)
{
	bool behind = rt.base && offset >= rt.base_offset;
	uint64_t at = behind ? rt.base : (uint64_t)rt.record, here = behind ? rt.base_offset : 0,
		 stride = limits_stride();
	if (!rt.base) {
		long place = sys6(SYS_mmap, memory_place(RECORD_PAGE), RECORD_PAGE, PROT_NONE_,
				  MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
		if (failed(place))
			return false;
		rt.base = (uint64_t)place, rt.base_offset = ~0ull;
		own_add(rt.base, RECORD_PAGE);
	}
	while (rt.base_offset != offset) {
		uint64_t step = offset - here < stride ? offset - here : stride;
		long p = sys5(SYS_mremap, at, 0, step + RECORD_PAGE, MREMAP_MAYMOVE_, 0);
		if (failed(p) || (step && sys2(SYS_munmap, p, step)) ||
		    failed(sys5(SYS_mremap, (uint64_t)p + step, RECORD_PAGE, RECORD_PAGE,
				MREMAP_MAYMOVE_ | MREMAP_FIXED_, rt.base)))
			return false;
		at = rt.base;
		rt.base_offset = here += step;
	}
	return true;
}

void record_near(void)
{
	if (limits_stride() < RECORD_FILE_BYTES)
		base_at(__atomic_load_n(&rt.record->next_offset, __ATOMIC_RELAXED));
}

/* See wire/start.h: a mapping of the record's file is duplicated, as there is no descriptor. */
void *record_map(uint64_t offset, uint64_t bytes, void *at)
{
	bytes = (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1);
	if (!base_at(offset))
		return NULL;
	if (!at) {
		long place = sys6(SYS_mmap, memory_place(bytes), bytes, PROT_NONE_,
				  MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
		at = failed(place) ? NULL : (void *)place;
	}
	long p = sys5(SYS_mremap, rt.base, 0, bytes, at ? MREMAP_MAYMOVE_ | MREMAP_FIXED_ : MREMAP_MAYMOVE_, at);
	if (failed(p))
		return NULL;
	own_add((uint64_t)p, bytes);
	return (void *)p;
}

void *record_area(struct record_area *area, uint64_t bytes, uint32_t inherited)
{
	uint64_t offset = record_reserve(bytes);
	void *p = record_map(offset, bytes, NULL);
	area->bytes = bytes;
	area->inherited = inherited;
	area->count = inherited;
	__atomic_store_n(&area->offset, offset, __ATOMIC_RELEASE);
	return p;
}

static uint64_t area_bytes(unsigned of, bool modules_too)
{
	(void)modules_too;
	switch (of) {
	case 0: return (uint64_t)rt.blocks_max * sizeof(struct record_block);
	case 1: return (uint64_t)rt.blocks_max * 64;
	case 2: return (uint64_t)(rt.limited ? 512 : RECORD_MODULES_MOST) * sizeof(struct record_module);
	case 3: return (uint64_t)rt.blocks_max / 4 * sizeof(struct record_site);
	default: return (uint64_t)rt.blocks_max / 16 * sizeof(struct record_correction);
	}
}

/* A fresh area, and what the runtime itself knows of it: the record's own words are for the host, and others may
 * write over them. */
static void *fresh_area(struct record_area *area, enum area which, uint64_t bytes, uint32_t inherited)
{
	rt.areas[which] = (struct record_area){.count = inherited, .inherited = inherited, .bytes = bytes};
	return record_area(area, bytes, inherited);
}

/* An entry more is complete. */
static void grew(struct record_area *area, enum area which, uint32_t by)
{
	rt.areas[which].count += by;
	__atomic_store_n(&area->count, rt.areas[which].count, __ATOMIC_RELEASE);
}

static bool opened(void)
{
	return rt.record_blocks && rt.record_code && rt.record_sites && rt.record_corrections && rt.record_modules;
}

bool record_open(struct record_process *process, const struct record_area *modules)
{
	rt.process = process;
	if (!rt.code)
		rt.code = memory_private(area_bytes(1, false));
	rt.code_used = 0;
	rt.record_blocks = record_area(&process->blocks, area_bytes(0, false), 0);
	rt.record_code = fresh_area(&process->code, AREA_CODE, area_bytes(1, false), 0);
	rt.record_sites = fresh_area(&process->sites, AREA_SITES, area_bytes(3, false), 0);
	rt.record_corrections = fresh_area(&process->corrections, AREA_CORRECTIONS, area_bytes(4, false), 0);
	if (modules && modules->offset) {
		rt.areas[AREA_MODULES] = *modules;
		rt.record_modules = record_map(modules->offset, modules->bytes, NULL);
	} else {
		rt.record_modules = fresh_area(&process->modules, AREA_MODULES, area_bytes(2, true), 0);
	}
	return opened();
}

/* In a forked child: areas of its own that go on from the parent's counts. */
bool record_reopen(struct record_process *process)
{
	uint32_t blocks = rt.block_count, sites = rt.areas[AREA_SITES].count,
		 modules = rt.areas[AREA_MODULES].count;
	rt.before = NULL;
	sys2(SYS_munmap, rt.record_blocks, area_bytes(0, false));
	sys2(SYS_munmap, rt.record_code, area_bytes(1, false));
	sys2(SYS_munmap, rt.record_sites, area_bytes(3, false));
	sys2(SYS_munmap, rt.record_corrections, area_bytes(4, false));
	sys2(SYS_munmap, rt.record_modules, rt.areas[AREA_MODULES].bytes);
	rt.process = process;
	rt.record_blocks = record_area(&process->blocks, area_bytes(0, false), blocks);
	rt.record_code = fresh_area(&process->code, AREA_CODE, area_bytes(1, false), 0);
	rt.record_sites = fresh_area(&process->sites, AREA_SITES, area_bytes(3, false), sites);
	rt.record_modules = fresh_area(&process->modules, AREA_MODULES, area_bytes(2, true), modules);
	rt.record_corrections = fresh_area(&process->corrections, AREA_CORRECTIONS, area_bytes(4, false), 0);
	rt.blocks_inherited = blocks;
	rt.sites_inherited = sites;
	rt.modules_inherited = modules;
	return opened();
}

void record_leave(void *area, uint64_t bytes, bool remove)
{
	if (remove)
		sys3(SYS_madvise, area, bytes, MADV_REMOVE_); /* also the file's pages */
	sys2(SYS_munmap, area, bytes);
}

/* Areas for a part that goes on; nothing refers to the old one's any more. remove: nobody will read those. */
bool record_part(struct record_process *process, bool remove)
{
	record_leave(rt.record_blocks, area_bytes(0, false), remove);
	record_leave(rt.record_sites, area_bytes(3, false), remove);
	record_leave(rt.record_corrections, area_bytes(4, false), remove);
	record_leave(rt.record_modules, rt.areas[AREA_MODULES].bytes, false);
	record_leave(rt.record_code, area_bytes(1, false), remove);
	rt.blocks_inherited = rt.sites_inherited = rt.modules_inherited = 0;
	return record_open(process, NULL);
}

/* Of code: what is the program's own process's, and with what it inherited. */
bool record_is_short(enum area which, uint64_t entry)
{
	const struct record_area *area = &rt.areas[which];
	uint64_t used = which == AREA_CODE ? rt.code_used : (uint64_t)(area->count - area->inherited) * entry;
	return used > area->bytes - area->bytes / 8;
}

uint32_t record_block_begin(uint64_t pc)
{
	if (rt.block_count < rt.blocks_max && rt.code_used + 1024 < rt.areas[AREA_CODE].bytes)
		return rt.block_count;
	die("the program ran more distinct basic blocks than the engine's record holds", pc);
}

const uint8_t *record_block_end(uint32_t id, const uint8_t *bytes, uint32_t length, uint32_t insns,
				bool conditional, uint32_t follows)
{
	struct record_process *process = rt.process;
	if (id != rt.block_count)
		return NULL;
	uint32_t at = rt.areas[AREA_CODE].count;
	uint8_t *own = rt.code + rt.code_used;
	memcpy(own, bytes, length);
	rt.code_used += length;
	memcpy(rt.record_code + at, bytes, length);
	grew(&process->code, AREA_CODE, length);
	struct record_block *block = &rt.record_blocks[id - rt.blocks_inherited];
	*block = (struct record_block){.address = rt.blocks[id].pc,
				       .code = at,
				       .length_bytes = (uint16_t)length,
				       .insns = (uint16_t)insns,
				       .counter = follows == NONE ? id * 2 : follows,
				       .taken = conditional ? id * 2 + 1 : RECORD_NONE,
				       .module = record_block_module(id),
				       .flags = (follows == NONE ? 0 : (uint32_t)RECORD_BLOCK_FOLLOWS) |
						(uint32_t)rt.blocks[id].context << RECORD_BLOCK_CONTEXT_SHIFT};
	rt.block_count = id + 1;
	__atomic_store_n(&process->blocks.count, id + 1, __ATOMIC_RELEASE);
	return own;
}

uint32_t record_block_module(uint32_t id)
{
	const struct watched_mapping *region = memory_executable(rt.blocks[id].pc);
	return region ? region->module : RECORD_NONE;
}

void record_leader(uint32_t id)
{
	rt.blocks[id].flags |= BLOCK_LEADER;
	if (id >= rt.blocks_inherited)
		__atomic_or_fetch(&rt.record_blocks[id - rt.blocks_inherited].flags, RECORD_BLOCK_LEADER,
				  __ATOMIC_RELAXED);
}

/* An inherited block's edge was settled before the fork. */
void record_edge(uint32_t id, enum edge edge)
{
	rt.blocks[id].edge = (uint8_t)edge;
	if (edge == EDGE_FALL && id >= rt.blocks_inherited)
		__atomic_or_fetch(&rt.record_blocks[id - rt.blocks_inherited].flags, RECORD_BLOCK_COUNTS_FALL,
				  __ATOMIC_RELEASE);
}

void record_site(uint32_t block, uint32_t insn, enum record_site_kind kind, uint32_t counter)
{
	uint32_t own = rt.areas[AREA_SITES].count - rt.sites_inherited;
	if ((own + 1) * sizeof(struct record_site) > rt.areas[AREA_SITES].bytes) {
		inexact("the record is full: too many repeated string instructions");
		return;
	}
	rt.record_sites[own] = (struct record_site){
		.block = block, .insn = (uint16_t)insn, .kind = (uint16_t)kind, .counter = counter};
	grew(&rt.process->sites, AREA_SITES, 1);
}

void record_correct(struct thread *t, uint32_t block, uint32_t done)
{
	struct record_area *area = &t->process->corrections;
	struct record_correction *all = rt.record_corrections;
	uint32_t tid = t->record->tid, *used = &rt.areas[AREA_CORRECTIONS].count;
	uint64_t bytes = rt.areas[AREA_CORRECTIONS].bytes;
	if (t->process != rt.process) {
		if (!t->corrections)
			t->corrections = record_area(area, CORRECTIONS_OF_CHILD, 0);
		all = t->corrections;
		used = &t->corrections_used, bytes = CORRECTIONS_OF_CHILD;
		if (!all) {
			inexact("no memory for the record of a child");
			return;
		}
	}
	for (uint32_t i = 0; i < *used; i++)
		if (all[i].block == block && all[i].done == done && all[i].tid == tid) {
			all[i].times++;
			return;
		}
	if ((*used + 1) * sizeof(struct record_correction) > bytes) {
		inexact("the record is full: too many different blocks were left early");
		return;
	}
	all[*used] = (struct record_correction){.block = block, .done = done, .tid = tid, .times = 1};
	__atomic_store_n(&area->count, ++*used, __ATOMIC_RELEASE);
}

uint32_t record_module(uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
	uint32_t own = rt.areas[AREA_MODULES].count - rt.modules_inherited;
	if ((own + 1) * sizeof(struct record_module) > rt.areas[AREA_MODULES].bytes)
		return RECORD_NONE; /* the module's name is lost, no count is */
	struct record_module *module = &rt.record_modules[own];
	*module = (struct record_module){.address = start, .length = length, .file_offset = offset};
	append(module->path, 0, sizeof module->path, path);
	grew(&rt.process->modules, AREA_MODULES, 1);
	return rt.areas[AREA_MODULES].count - 1;
}

/*
 * What memory is executable, and what changes code after it was translated.
 *
 *     page:  clean ──read for translation, writable──► protected ──write──► clean ──… 8 times──► checked
 *
 * What always holds (under rt.lock):
 *  1. rt.mappings is sorted, without overlap, and has every executable mapping and every shared one.
 *  2. Code is translated from a writable private page only while the page is write-protected; from a shared
 *     mapping, from a private one of a file that may be written, and from pages that are written again and again,
 *     only to blocks that are compared with memory before each execution.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define FAULTS_MAX 8
#define MOVED_MOST 16              /* of one mremap; of more than those nothing is kept */
#define MODULE_UNKNOWN 0xfffffffeu /* a file's, whose name is still to be read from /proc/self/maps */

static uint32_t mapping_at(uint64_t address) /* the first that ends above */
{
	uint32_t low = 0, high = rt.mapping_count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (rt.mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void move_up(uint32_t at, uint32_t by)
{
	if (rt.mapping_count + by > MAPPINGS_MAX)
		die("more executable mappings than the engine holds", rt.mappings[at].start);
	for (uint32_t i = rt.mapping_count; i > at; i--)
		rt.mappings[i - 1 + by] = rt.mappings[i - 1];
	rt.mapping_count += by;
}

static void remove_at(uint32_t at)
{
	for (uint32_t i = at + 1; i < rt.mapping_count; i++)
		rt.mappings[i - 1] = rt.mappings[i];
	rt.mapping_count--;
}

static void split_at(uint64_t address)
{
	uint32_t i = mapping_at(address);
	if (i == rt.mapping_count || rt.mappings[i].start >= address)
		return;
	move_up(i, 1);
	rt.mappings[i].end = address;
	rt.mappings[i + 1].start = address;
}

static void insert(const struct watched_mapping *region)
{
	uint32_t i = mapping_at(region->start);
	move_up(i, 1);
	rt.mappings[i] = *region;
}

/* Pages of a changed range: their state is the mapping's, and blocks from them are gone. */
static void changed(uint64_t start, uint64_t end)
{
	uint64_t first = start >> 12, last = (end - 1) >> 12;
	if (!end || end < start)
		return;
	cache_drop_range(start, end);
	if (last - first > rt.page_mask) {
		for (uint32_t i = 0; i <= rt.page_mask; i++)
			if (rt.pages[i].number && rt.pages[i].number >= first && rt.pages[i].number <= last) {
				if (rt.pages[i].state == PAGE_PROTECTED)
					rt.protected_pages--;
				rt.pages[i].state = PAGE_CLEAN;
				rt.pages[i].faults = 0;
			}
		return;
	}
	for (uint64_t number = first; number <= last; number++) {
		struct page *page = cache_page(number, false);
		if (!page)
			continue;
		if (page->state == PAGE_PROTECTED)
			rt.protected_pages--;
		page->state = PAGE_CLEAN;
		page->faults = 0;
	}
}

static bool any_region(uint64_t start, uint64_t end)
{
	uint32_t i = mapping_at(start);
	return i < rt.mapping_count && rt.mappings[i].start < end;
}

bool memory_any(uint64_t start, uint64_t length) { return any_region(start, start + length); }

void memory_unmapped(uint64_t start, uint64_t length)
{
	uint64_t end = (start + length + 4095) & ~4095ull;
	if (!any_region(start, end))
		return;
	changed(start, end);
	regions_unmapped(start, end);
	split_at(start);
	split_at(end);
	for (uint32_t i = mapping_at(start); i < rt.mapping_count && rt.mappings[i].start < end;)
		remove_at(i);
}

void memory_forgotten(uint64_t start, uint64_t length)
{
	uint64_t end = (start + length + 4095) & ~4095ull;
	if (any_region(start, end))
		cache_drop_range(start, end);
}

void memory_mapped(uint64_t start, uint64_t length, uint32_t protection, bool shared, long fd, uint64_t offset)
{
	(void)offset;
	memory_unmapped(start, length);
	if ((protection & PROT_EXEC_) || shared)
		insert(&(struct watched_mapping){start, (start + length + 4095) & ~4095ull, protection, shared,
						 fd >= 0 ? MODULE_UNKNOWN : RECORD_NONE, 0, 0, 0, 0, 0});
}

void memory_protected(uint64_t start, uint64_t length, uint32_t protection)
{
	uint64_t end = (start + length + 4095) & ~4095ull, at = start;
	if (!(protection & PROT_EXEC_) && !any_region(start, end))
		return;
	changed(start, end);
	split_at(start);
	split_at(end);
	while (at < end) {
		uint32_t i = mapping_at(at);
		if (i < rt.mapping_count && rt.mappings[i].start <= at) {
			rt.mappings[i].protection = protection;
			at = rt.mappings[i].end;
			if (!(protection & PROT_EXEC_) && !rt.mappings[i].shared)
				remove_at(i);
		} else {
			uint64_t to = i < rt.mapping_count && rt.mappings[i].start < end ? rt.mappings[i].start
											 : end;
			if (protection & PROT_EXEC_)
				insert(&(struct watched_mapping){at, to, protection, 0, MODULE_UNKNOWN, 0, 0, 0, 0,
								 0});
			at = to;
		}
	}
}

/* ---- /proc/self/maps -------------------------------------------------------------------------- */

/* Another part of the record has a list of modules of its own. */
void memory_modules_unknown(void)
{
	for (uint32_t i = 0; i < rt.mapping_count; i++)
		if (rt.mappings[i].protection & PROT_EXEC_)
			rt.mappings[i].module = MODULE_UNKNOWN;
}

static uint32_t module_of(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	for (uint32_t i = 0; i < rt.areas[AREA_MODULES].count - rt.modules_inherited; i++) {
		const struct record_module *m = &rt.record_modules[i];
		if (m->address == start && m->address + m->length == end &&
		    !memcmp(m->path, path, text_length(path) + 1))
			return i + rt.modules_inherited;
	}
	stream_objects_module(start, offset, path);
	return record_module(start, end - start, offset, path);
}

struct scan {
	struct watched_mapping *fresh;
	uint32_t count;
};

static void mapping_of(const struct mapping *m, void *context)
{
	struct scan *scan = context;
	uint64_t start = m->start, end = m->end;
	uint32_t protection = m->protection;
	uint64_t own[][2] = {{rt.image, rt.image_bytes}, {(uint64_t)rt.record, RECORD_SPACE_OFFSET}};
	for (unsigned i = 0; i < 2; i++)
		if (start >= own[i][0] && start < own[i][0] + own[i][1])
			return;
	for (uint32_t i = 0; i < rt.arena_count; i++)
		if (start < (uint64_t)rt.arena[i].end && end > (uint64_t)rt.arena[i].base)
			return;
	if (start >= ADDRESS_END || !((protection & PROT_EXEC_) || m->shared) || scan->count == MAPPINGS_MAX)
		return;
	/* what is write-protected by the engine looks read-only */
	uint32_t at = mapping_at(start);
	if (at < rt.mapping_count && rt.mappings[at].start <= start && (rt.mappings[at].protection & PROT_WRITE_))
		protection |= PROT_WRITE_;
	bool written = at < rt.mapping_count && rt.mappings[at].start <= start &&
		       rt.mappings[at].inode == m->inode && rt.mappings[at].written;
	char path[232];
	unsigned n = 0;
	for (; m->path[n] && n < sizeof path - 1; n++)
		path[n] = m->path[n];
	path[n] = 0;
	scan->fresh[scan->count++] = (struct watched_mapping){
		start,
		end,
		protection,
		m->shared,
		(protection & PROT_EXEC_) ? module_of(start, end, m->offset, path) : RECORD_NONE,
		written || (m->inode && !m->shared && file_written(m->device, m->inode, path)),
		m->device,
		m->inode,
		0,
		0};
}

bool memory_rescan(void)
{
	static struct watched_mapping *fresh;
	if (!fresh)
		fresh = memory_private(MAPPINGS_MAX * sizeof *fresh);
	struct scan scan = {fresh, 0};
	if (!maps_read(mapping_of, &scan))
		return false; /* what was tracked stays */
	fresh = rt.mappings;
	rt.mappings = scan.fresh;
	rt.mapping_count = scan.count;
	regions_mapped();
	return true;
}

void memory_all_changed(void)
{
	cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
	for (uint32_t i = 0; i < rt.mapping_count; i++) /* as /proc has it: nothing is protected by the engine */
		rt.mappings[i].protection &= ~(uint32_t)PROT_WRITE_;
	if (memory_rescan())
		return;
	for (uint32_t i = 0; i < rt.mapping_count; i++)
		rt.mappings[i].written = 1; /* compared before each execution */
}

/* Protections go with what moves. They are kept here because /proc may not be readable: no descriptor is free. */
void memory_moved(uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t bytes, bool stays)
{
	struct watched_mapping there[MOVED_MOST];
	uint64_t end = from + ((from_bytes + 4095) & ~4095ull), to_end = to + ((bytes + 4095) & ~4095ull);
	uint64_t most = from_bytes ? end : from + (to_end - to); /* of no bytes: a second one of the same pages */
	unsigned n = 0;
	for (uint32_t i = mapping_at(from); i < rt.mapping_count && rt.mappings[i].start < most && n < MOVED_MOST;
	     i++) {
		struct watched_mapping m = rt.mappings[i];
		bool last = m.end >= most; /* it grows with the mapping */
		m.start = (m.start > from ? m.start - from : 0) + to;
		m.end = last || m.end - from + to > to_end ? to_end : m.end - from + to;
		m.module = m.module == RECORD_NONE ? RECORD_NONE : MODULE_UNKNOWN;
		m.kept = 0;
		if (m.start < m.end)
			there[n++] = m;
	}
	memory_unmapped(to, bytes);
	if (stays)
		memory_forgotten(from, from_bytes);
	else
		memory_unmapped(from, from_bytes);
	for (unsigned i = 0; i < n; i++)
		insert(&there[i]);
	memory_rescan();
}

void memory_start(void)
{
	rt.mappings = memory_private(MAPPINGS_MAX * sizeof *rt.mappings);
	memory_rescan();
	if (rt.mapping_count)
		return;
	for (uint32_t i = 0; i < rt.areas[AREA_MODULES].count; i++) /* no /proc: what the host saw */
		insert(&(struct watched_mapping){rt.record_modules[i].address,
						 rt.record_modules[i].address + rt.record_modules[i].length,
						 PROT_READ_ | PROT_EXEC_, 0, i, 0, 0, 0, 0, 0});
}

const struct watched_mapping *memory_executable(uint64_t pc)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		uint32_t i = mapping_at(pc);
		if (i < rt.mapping_count && rt.mappings[i].start <= pc &&
		    (rt.mappings[i].protection & PROT_EXEC_)) {
			if (rt.mappings[i].module != MODULE_UNKNOWN || attempt)
				return &rt.mappings[i];
		}
		if (!attempt)
			memory_rescan();
	}
	return NULL;
}

/* ---- writes ----------------------------------------------------------------------------------- */

bool memory_watch(uint64_t pc, uint64_t length, const struct watched_mapping *region)
{
	bool checked = false;
	if (region->shared || region->written)
		return true;
	if (!(region->protection & PROT_WRITE_))
		return false;
	for (uint64_t number = pc >> 12; number <= (pc + length - 1) >> 12; number++) {
		struct page *page = cache_page(number, true);
		if (page->state == PAGE_CLEAN) {
			uint64_t rsp = current()->reg[X86_RSP];
			bool stack = rsp >= region->start && rsp < region->end;
			/* announced before looking what may write there: see written_open() */
			__atomic_fetch_add(&rt.protected_pages, 1, __ATOMIC_SEQ_CST);
			if (stack || rt.foreign_writes)
				page->state = PAGE_CHECKED;
			else if (written_now(number << 12, (number + 1) << 12))
				page->state = PAGE_OPEN;
			else if (sys3(SYS_mprotect, number << 12, 4096,
				      region->protection & ~(uint32_t)PROT_WRITE_))
				page->state = PAGE_CHECKED;
			else
				page->state = PAGE_PROTECTED;
			if (page->state == PAGE_PROTECTED)
				inline_unseen();
			else
				rt.protected_pages--;
		}
		checked |= page->state == PAGE_CHECKED || page->state == PAGE_OPEN;
	}
	return checked;
}

static void release(struct page *page)
{
	uint64_t address = page->number << 12;
	uint32_t i = mapping_at(address);
	uint32_t protection = i < rt.mapping_count && rt.mappings[i].start <= address ? rt.mappings[i].protection
										      : 7;
	cache_drop_range(address, address + 4096);
	sys3(SYS_mprotect, address, 4096, protection);
	rt.protected_pages--;
	page->faults += page->faults < 255;
	page->state = page->faults >= FAULTS_MAX ? PAGE_CHECKED : PAGE_CLEAN;
}

bool memory_write_fault(struct thread *t, uint64_t address)
{
	struct page *page = cache_page(address >> 12, false);
	if (!page)
		return false;
	if (page->state == PAGE_PROTECTED) {
		release(page);
		/* it may have changed its own block: one instruction at a time */
		if (address - t->pc + 4096 < 8192)
			t->step_once = 1;
		t->retried = 0;
		return true;
	}
	/* another thread's fault has released it meanwhile; but the same fault twice is the program's own */
	uint32_t i = mapping_at(address);
	bool writable = i < rt.mapping_count && rt.mappings[i].start <= address &&
			(rt.mappings[i].protection & PROT_WRITE_);
	if (!writable || t->retried == address)
		return false;
	t->retried = address;
	return true;
}

/* What a page has been released for says how often it is written; a call that may write anywhere says nothing. */
static void release_uncounted(struct page *page)
{
	uint8_t faults = page->faults;
	release(page);
	page->faults = faults;
	page->state = PAGE_CLEAN;
}

bool memory_release(uint64_t start, uint64_t length)
{
	bool any = false;
	uint64_t first = start >> 12, last = (start + length - 1) >> 12;
	if (!rt.protected_pages || !length)
		return false;
	if (last - first < rt.page_mask / 8) {
		for (uint64_t number = first; number <= last; number++) {
			struct page *page = cache_page(number, false);
			if (!page || page->state != PAGE_PROTECTED)
				continue;
			release(page);
			any = true;
		}
		return any;
	}
	for (uint32_t i = 0; i <= rt.page_mask; i++)
		if (rt.pages[i].number && rt.pages[i].state == PAGE_PROTECTED && rt.pages[i].number >= first &&
		    rt.pages[i].number <= last) {
			release_uncounted(&rt.pages[i]);
			any = true;
		}
	return any;
}

void memory_pin(uint64_t at, uint64_t bytes)
{
	for (uint64_t number = at >> 12; at && number <= (at + bytes - 1) >> 12; number++) {
		uint32_t i = mapping_at(number << 12);
		if (i == rt.mapping_count || rt.mappings[i].start > number << 12 ||
		    !(rt.mappings[i].protection & PROT_WRITE_))
			continue;
		struct page *page = cache_page(number, true);
		if (page->state == PAGE_PROTECTED)
			release(page);
		page->state = PAGE_CHECKED;
	}
}

bool memory_settle(uint64_t pc, uint64_t length)
{
	bool any = false;
	for (uint64_t number = pc >> 12; number <= (pc + length - 1) >> 12; number++) {
		struct page *page = cache_page(number, false);
		if (!page || page->state != PAGE_OPEN || written_now(number << 12, (number + 1) << 12))
			continue;
		cache_drop_range(number << 12, (number + 1) << 12);
		page->state = PAGE_CLEAN;
		any = true;
	}
	return any;
}

bool memory_file_written(const struct code_file *file)
{
	bool any = false;
	for (uint32_t i = 0; i < rt.mapping_count; i++) {
		struct watched_mapping *r = &rt.mappings[i];
		if (!(r->protection & PROT_EXEC_) || r->shared || r->written || !r->inode ||
		    (file && !mapping_is_of(r, file)))
			continue;
		r->written = 1;
		cache_drop_range(r->start, r->end);
		any = true;
	}
	return any;
}

/* Pages that are not mapped any more are as if they had never been; zeros have replaced others. */
void memory_forked(void)
{
	cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
	memory_rescan();
	for (uint32_t i = 0; i <= rt.page_mask; i++) {
		struct page *page = &rt.pages[i];
		if (!page->number || page->state != PAGE_PROTECTED ||
		    any_region(page->number << 12, (page->number + 1) << 12))
			continue;
		page->state = PAGE_CLEAN;
		page->faults = 0;
		rt.protected_pages--;
	}
}

void memory_foreign(void)
{
	rt.foreign_writes |= FOREIGN_ANY;
	for (uint32_t i = 0; i <= rt.page_mask; i++)
		if (rt.pages[i].number && rt.pages[i].state == PAGE_PROTECTED) {
			release(&rt.pages[i]);
			rt.pages[i].state = PAGE_CLEAN; /* checked, when it is looked at next */
		}
}

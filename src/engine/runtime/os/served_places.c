/*
 * Where the program's memory is mapped, where it is chosen what the program sees of the machine. Kernels differ:
 * from Linux 6.7 on large mappings begin at multiples of 2 MiB, and file systems have rules of their own.
 * Programs sort and hash addresses (python its types, the dynamic linker its libraries), so that the places are
 * in their counts.
 *
 *     mmap, mremap as ever ──► the kernel's place ──► moved to the highest gap of the window that is large enough
 *
 * The window's mappings are known from the calls that change them. It begins far below what the kernel places by
 * itself, and ends above what the engine takes (OWN_WINDOW).
 *
 * What always holds (under rt.lock):
 *  1. A place that the program asked for (MAP_FIXED, a hint that the kernel followed, MAP_32BIT) is left alone,
 *     and so is what cannot be moved: huge pages, stacks that grow.
 *  2. Nothing is mapped over: before memory is moved, its new place is taken with MAP_FIXED_NOREPLACE. What is
 *     there unknown to this file is noted then, and another gap is looked for.
 *  3. Where a step fails, the memory stays where the kernel has put it: inputs() names addresses then.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/thread.h"

#define WINDOW_START 0x7f0000000000ull
#define WINDOW_END 0x7ff000000000ull
#define RANGES_MOST 65536u
#define TRIES 8u
enum { MAP_GROWSDOWN_ = 0x100, MAP_HUGETLB_ = 0x40000 };

/* Mapped memory in the window: by address, with a gap between any two. */
struct mapped_range {
	uint64_t start, end;
};
static struct mapped_range *ranges;
static uint32_t range_count, ranges_full;

static uint64_t pages(uint64_t bytes) { return (bytes + 4095) & ~4095ull; }

/* The first that ends at or behind the address. */
static uint32_t find(uint64_t at)
{
	uint32_t low = 0, high = range_count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (ranges[middle].end < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* `remove` ranges from `at` on become `with` others. */
static void replace(uint32_t at, uint32_t remove, const struct mapped_range *others, uint32_t with)
{
	if (range_count - remove + with > RANGES_MOST) {
		ranges_full = 1; /* from here on all stays where the kernel puts it */
		return;
	}
	uint32_t behind = range_count - at - remove;
	struct mapped_range *from = &ranges[at + remove], *to = &ranges[at + with];
	if (to < from)
		for (uint32_t i = 0; i < behind; i++)
			to[i] = from[i];
	else
		for (uint32_t i = behind; i-- > 0;)
			to[i] = from[i];
	for (uint32_t i = 0; i < with; i++)
		ranges[at + i] = others[i];
	range_count += with - remove;
}

static bool clip(uint64_t *start, uint64_t *end)
{
	*start = *start < WINDOW_START ? WINDOW_START : *start;
	*end = *end > WINDOW_END ? WINDOW_END : *end;
	return *start < *end;
}

static void set_used(uint64_t start, uint64_t end)
{
	if (!clip(&start, &end))
		return;
	uint32_t first = find(start), last = first;
	struct mapped_range all = {start, end};
	for (; last < range_count && ranges[last].start <= end; last++) {
		all.start = ranges[last].start < all.start ? ranges[last].start : all.start;
		all.end = ranges[last].end > all.end ? ranges[last].end : all.end;
	}
	replace(first, last - first, &all, 1);
}

static void set_free(uint64_t start, uint64_t end)
{
	if (!clip(&start, &end))
		return;
	uint32_t first = find(start), last = first, rest = 0;
	struct mapped_range left[2];
	for (; last < range_count && ranges[last].start < end; last++) {
		struct mapped_range r = ranges[last];
		if (r.start < start)
			left[rest++] = (struct mapped_range){r.start, start};
		if (r.end > end)
			left[rest++] = (struct mapped_range){end, r.end};
	}
	replace(first, last - first, left, rest);
}

/* The start of the highest gap's last `bytes`; 0: there is none. */
static uint64_t highest_gap(uint64_t bytes)
{
	uint64_t end = WINDOW_END;
	for (uint32_t i = range_count; i-- > 0; end = ranges[i].start)
		if (end - ranges[i].end >= bytes)
			return end - bytes;
	return end - WINDOW_START >= bytes ? end - bytes : 0;
}

static void note_mapping(const struct mapping *m, void *context)
{
	(void)context;
	set_used(m->start, m->end);
}

static bool is_ready(void)
{
	if (!ranges) {
		ranges = memory_private(RANGES_MOST * sizeof *ranges);
		ranges_full = !ranges || !maps_read(note_mapping, NULL);
	}
	return !ranges_full;
}

/* Memory of the program's, where the kernel has put it: its place now. */
static uint64_t move(uint64_t at, uint64_t bytes)
{
	uint64_t place;
	if (!bytes || bytes > WINDOW_END - WINDOW_START)
		return at;
	for (unsigned i = 0; i < TRIES && (place = highest_gap(bytes)) != 0; i++) {
		long taken = sys6(SYS_mmap, place, bytes, PROT_NONE_,
				  MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_ | MAP_FIXED_NOREPLACE_,
				  (uint64_t)-1, 0);
		if (!failed(taken) && (uint64_t)taken != place) { /* a kernel that does not know the flag */
			sys2(SYS_munmap, taken, bytes);
			return at;
		}
		if (taken == -EEXIST_) {
			set_used(place, place + bytes);
			continue;
		}
		if (failed(taken))
			return at;
		long moved = sys5(SYS_mremap, at, bytes, bytes, MREMAP_MAYMOVE_ | MREMAP_FIXED_, place);
		if ((uint64_t)moved != place) {
			sys2(SYS_munmap, place, bytes);
			return at;
		}
		return place;
	}
	return at;
}

uint64_t served_mapped(const struct thread *t, uint64_t at)
{
	const uint64_t *r = t->reg;
	uint64_t wanted = r[X86_RDI] & ~4095ull, bytes = pages(r[X86_RSI]), flags = r[X86_R10];
	if (!is_ready())
		return at;
	if (!(flags & (MAP_FIXED_ | MAP_FIXED_NOREPLACE_ | MAP_32BIT_ | MAP_HUGETLB_ | MAP_GROWSDOWN_)) &&
	    (!wanted || wanted != at))
		at = move(at, bytes);
	set_used(at, at + bytes);
	return at;
}

void served_unmapped(uint64_t at, uint64_t bytes)
{
	if (is_ready())
		set_free(at, at + pages(bytes));
}

uint64_t served_moved(const struct thread *t, uint64_t to)
{
	const uint64_t *r = t->reg;
	uint64_t from = r[X86_RDI], before = pages(r[X86_RSI]), bytes = pages(r[X86_RDX]), flags = r[X86_R10];
	if (!is_ready())
		return to;
	if (!(flags & MREMAP_DONTUNMAP_))
		set_free(from, from + before);
	if (to != from && !(flags & MREMAP_FIXED_))
		to = move(to, bytes);
	set_used(to, to + bytes);
	return to;
}

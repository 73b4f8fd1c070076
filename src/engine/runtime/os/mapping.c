/*
 * System calls that change what is mapped where. What the engine knows of it follows, and what is the engine's own
 * stays.
 *
 * What always holds (under rt.lock):
 *  1. Before the kernel moves or seals memory, no page there is write-protected by the engine: it would stay so.
 *  2. The program changes no mapping of the engine's. The cache and its tables give way (cache_move); for the rest
 *     the program is told what it would be told of memory that is not there, or that there is no room.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum { SYS_shmctl = 31, IPC_STAT_ = 2, SHM_RDONLY_ = 010000, SHM_REMAP_ = 040000, SHM_EXEC_ = 0100000 };
enum { MAP_HUGETLB_ = 0x40000, HUGE_SHIFT = 26, HUGE_USUAL = 21 };
enum { MADV_FREE_ = 8, MADV_DONTFORK_ = 10, MADV_WIPEONFORK_ = 18, MADV_DONTNEED_LOCKED_ = 24, MADV_GUARDS = 100 };
#define BELOW_FROM 0x40000000ull /* arch/x86/kernel/sys_x86_64.c, find_start_end */
#define BELOW_TO 0x80000000ull

/* ---- the engine's own ---------------------------------------------------------------------------- */

void own_add(uint64_t start, uint64_t bytes)
{
	uint64_t end = (start + bytes + 4095) & ~4095ull;
	if (start >= OWN_WINDOW && end <= OWN_WINDOW + rt.placed)
		return;
	for (uint32_t i = 0; i < rt.own_count; i++)
		if (start <= rt.own[i].end && end >= rt.own[i].start) {
			rt.own[i].start = start < rt.own[i].start ? start : rt.own[i].start;
			rt.own[i].end = end > rt.own[i].end ? end : rt.own[i].end;
			return;
		}
	if (rt.own_count < OWN_MAX)
		rt.own[rt.own_count++] = (struct own){start, end};
}

/* The first range of the engine's that ends above `at`, the cache's and the tables' included; false: there is
 * none. */
static bool own_next(uint64_t at, struct own *own)
{
	struct own found = {~0ull, ~0ull};
	struct own more[ARENAS + 2] = {{OWN_WINDOW, OWN_WINDOW + rt.placed},
				       {(uint64_t)rt.tables, (uint64_t)rt.tables + TABLES_BYTES}};
	for (uint32_t i = 0; i < rt.arena_count; i++)
		more[2 + i] = (struct own){(uint64_t)rt.arena[i].base, (uint64_t)rt.arena[i].end};
	for (uint32_t i = 0; i < rt.own_count + 2 + rt.arena_count; i++) {
		struct own o = i < rt.own_count ? rt.own[i] : more[i - rt.own_count];
		if (o.end > at && o.start < found.start)
			found = o;
	}
	*own = found;
	return found.start != ~0ull;
}

bool own_any(uint64_t start, uint64_t end)
{
	struct own own;
	return end > start && own_next(start, &own) && own.start < end;
}

/* The program wants this place, and would get it natively. False: it cannot be had. */
static bool give_way(struct thread *t, uint64_t start, uint64_t length)
{
	uint64_t end = (start + length + 4095) & ~4095ull;
	if (!own_any(start, end))
		return true;
	cache_move(t, start, end);
	if (!own_any(start, end))
		return true;
	inexact("the program maps memory at an address of its own choice, where the engine's is");
	return false;
}

/* ---- what changes -------------------------------------------------------------------------------- */

/* What a mapping takes: whole huge pages, if it asks for such. */
static uint64_t mapped_bytes(const uint64_t *r)
{
	uint64_t bytes = r[X86_RSI], flags = r[X86_R10];
	if (!(flags & MAP_HUGETLB_) || !(flags & MAP_ANONYMOUS_))
		return bytes;
	unsigned shift = flags >> HUGE_SHIFT & 31; /* x86's have 2 MB or 1 GB */
	uint64_t page = 1ull << (shift ? shift : HUGE_USUAL);
	return (bytes + page - 1) & -page;
}

static void mapped(struct thread *t, uint64_t at)
{
	const uint64_t *r = t->reg;
	uint64_t length = mapped_bytes(r), flags = r[X86_R10];
	uint32_t protection = (uint32_t)r[X86_RDX] & 7;
	long fd = flags & MAP_ANONYMOUS_ ? -1 : (long)(int)r[X86_R8];
	if (fd >= 0) {
		if (protection & PROT_EXEC_)
			rseq_library(fd);
		file_mapped(fd, (flags & 3) == 1 || (flags & 3) == 3);
	}
	inline_forget(t, at, length);
	memory_mapped(at, length, protection, (flags & 3) == 1 || (flags & 3) == 3, fd, r[X86_R9]);
	stream_mapped(t, at, length, flags);
	stream_objects_mapped(t, at, length, protection, flags, (long)(int)r[X86_R8], r[X86_R9]);
}

/* A segment that was attached, where /proc does not tell. */
static void attached(const uint64_t *r, uint64_t at)
{
	uint64_t status[14] = {0}; /* struct shmid_ds, 112 bytes; its size is behind the permissions */
	uint32_t flags = (uint32_t)r[X86_RDX];
	if (!failed(sys3(SYS_shmctl, r[X86_RDI], IPC_STAT_, status)))
		memory_mapped(at, status[6],
			      PROT_READ_ | (flags & SHM_RDONLY_ ? 0 : PROT_WRITE_) |
				      (flags & SHM_EXEC_ ? PROT_EXEC_ : 0),
			      true, -1, 0);
}

/* Contents that are given up: zeros, or the file's again. Where memory is missing, it is done in what there is. */
static void advised(struct thread *t, uint64_t at, uint64_t length, uint32_t advice)
{
	if (advice >= MADV_GUARDS)
		inline_forget(t, at, length);
	if (advice == MADV_DONTNEED_ || advice == MADV_FREE_ || advice == MADV_REMOVE_ ||
	    advice == MADV_DONTNEED_LOCKED_ || advice >= MADV_GUARDS)
		memory_forgotten(at, length);
	if (advice == MADV_DONTFORK_ || advice == MADV_WIPEONFORK_)
		rt.forks_differ = 1;
}

#define RANGES_MOST 1024u /* UIO_MAXIOV */

/* The process is perhaps this one, by a descriptor of it. */
static void advised_vector(struct thread *t)
{
	const uint64_t *r = t->reg;
	uint64_t range[2];
	uint32_t n = (uint32_t)r[X86_RDX]; /* as the kernel takes it; it refuses more */
	for (uint32_t i = 0; n <= RANGES_MOST && i < n; i++)
		if (!safe_copy(range, (const void *)(r[X86_RSI] + i * sizeof range), sizeof range))
			break;
		else
			advised(t, range[0], range[1], (uint32_t)r[X86_R10]);
}

static void moved(struct thread *t, uint64_t to, bool code)
{
	const uint64_t *r = t->reg;
	uint64_t from = r[X86_RDI], from_bytes = r[X86_RSI], bytes = r[X86_RDX];
	inline_forget(t, from, from_bytes);
	inline_forget(t, to, bytes);
	stream_objects_moved(t, from, from_bytes, to, bytes);
	if (code)
		memory_moved(from, from_bytes, to, bytes, !from_bytes || (r[X86_R10] & MREMAP_DONTUNMAP_));
	else
		memory_unmapped(to, bytes);
}

static long served_mapping(struct thread *t, uint64_t nr, long result)
{
	switch (nr) {
	case SYS_mmap: return (long)served_mapped(t, (uint64_t)result);
	case SYS_mremap: return (long)served_moved(t, (uint64_t)result);
	case SYS_munmap: served_unmapped(t->reg[X86_RDI], t->reg[X86_RSI]); break;
	}
	return result;
}

static long change(struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	uint64_t a = r[X86_RDI], b = r[X86_RSI], c = r[X86_RDX], d = r[X86_R10];
	bool code = false,
	     grows = (nr == SYS_mprotect || nr == SYS_pkey_mprotect) && (c & (PROT_GROWSDOWN_ | PROT_GROWSUP_));
	if (nr == SYS_mremap) {
		code = memory_any(a, b ? b : 1);
		memory_release(a, b ? b : 1);
	} else if (nr == SYS_mseal) {
		memory_release(a, b);
	} else if (nr == SYS_shmat || nr == SYS_shmdt || nr == SYS_remap_file_pages || grows) {
		memory_release(0, ADDRESS_END);
	}
	long result = call_make(t, nr);
	if (result == ABORTED || (failed(result) && nr != SYS_madvise && nr != SYS_process_madvise))
		return result;
	if (rt.served)
		result = served_mapping(t, nr, result);
	switch (nr) {
	case SYS_mmap: mapped(t, (uint64_t)result); break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		if (nr == SYS_pkey_mprotect)
			inline_careful();
		if (grows) { /* from the mapping's beginning, or to its end */
			inline_forget(t, 0, ADDRESS_END);
			memory_all_changed();
			break;
		}
		inline_forget(t, a, b);
		memory_protected(a, b, (uint32_t)c & 7);
		break;
	case SYS_munmap:
		inline_forget(t, a, b);
		memory_unmapped(a, b);
		stream_unmapped(t, a, b);
		stream_objects_unmapped(t, a, b);
		break;
	case SYS_madvise: advised(t, a, b, (uint32_t)c); break;
	case SYS_process_madvise: advised_vector(t); break;
	case SYS_mremap: moved(t, (uint64_t)result, code); break;
	case SYS_shmat:
	case SYS_shmdt:
	case SYS_remap_file_pages:
		inline_forget(t, 0, ADDRESS_END);
		cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
		if (!memory_rescan() && nr == SYS_shmat)
			attached(r, (uint64_t)result);
		break;
	}
	(void)d;
	return result;
}

/* A range in which something is the engine's, which is not there natively: the rest is changed, and missing memory
   is reported as the kernel does. */
static long around_own(struct thread *t, uint64_t nr)
{
	uint64_t start = t->reg[X86_RDI], length = t->reg[X86_RSI], end = start + length, at = start;
	long result = nr == SYS_munmap ? 0 : -ENOMEM_;
	struct own own;
	while (at < end) {
		uint64_t to = own_next(at, &own) && own.start < end ? own.start : end;
		if (to > at) {
			t->reg[X86_RDI] = at;
			t->reg[X86_RSI] = to - at;
			long one = change(t, nr);
			if (failed(one))
				result = one;
			if (nr != SYS_munmap && nr != SYS_madvise)
				break; /* up to the first hole */
		}
		at = to < end ? own.end : end;
	}
	t->reg[X86_RDI] = start;
	t->reg[X86_RSI] = length;
	return result;
}

/* Addresses that MAP_32BIT may give: the cache and its tables leave them when there is no room. */
static long change_below(struct thread *t)
{
	long result = change(t, SYS_mmap);
	if (result == -ENOMEM_ && cache_move(t, BELOW_FROM, BELOW_TO))
		result = change(t, SYS_mmap);
	return result;
}

static long change_others(struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	uint64_t a = r[X86_RDI], b = r[X86_RSI], end = (a + b + 4095) & ~4095ull;
	bool wraps = end < a || (a & 4095);
	switch (nr) {
	case SYS_mmap:
		if ((r[X86_R10] & (MAP_FIXED_ | MAP_FIXED_NOREPLACE_)) && !wraps &&
		    !give_way(t, a, mapped_bytes(r)) && !(r[X86_R10] & MAP_FIXED_NOREPLACE_))
			return -ENOMEM_;
		if ((r[X86_R10] & (MAP_32BIT_ | MAP_FIXED_)) == MAP_32BIT_)
			return change_below(t);
		break;
	case SYS_mremap:
		if (!wraps && own_any(a, a + (b ? b : 1)))
			return -EFAULT_;
		if ((r[X86_R10] & MREMAP_FIXED_) && !give_way(t, r[X86_R8], r[X86_RDX]))
			return -ENOMEM_;
		break;
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_madvise:
	case SYS_mseal:
		if (!wraps && own_any(a, end))
			return around_own(t, nr);
		break;
	case SYS_shmat:
		if ((r[X86_RDX] & SHM_REMAP_) && b && own_any(b, b + 1))
			return -EINVAL_;
		break;
	case SYS_remap_file_pages:
		if (!wraps && own_any(a, end))
			return -EINVAL_;
		break;
	}
	return change(t, nr);
}

long mapping_call(struct thread *t, uint64_t nr)
{
	lock();
	long result = change_others(t, nr);
	unlock();
	return result;
}

/* The heap ends at the first mapping above, which natively is not the engine's. */
long heap_call(struct thread *t)
{
	uint64_t wanted = t->reg[X86_RDI], before = rt.inline_break;
	long result = call_make(t, SYS_brk);
	if (result == ABORTED)
		return result;
	uint64_t end = (uint64_t)result;
	if (wanted > end) {
		lock();
		bool given = cache_move(t, end, wanted + HEAP_GAP);
		unlock();
		if (given) {
			result = call_make(t, SYS_brk);
			if (result == ABORTED)
				return result;
			end = (uint64_t)result;
		}
	}
	stream_objects_break(t, end);
	if (end < before) {
		lock();
		inline_forget(t, end, before - end);
		memory_unmapped((end + 4095) & ~4095ull, ((before + 4095) & ~4095ull) - ((end + 4095) & ~4095ull));
		unlock();
	}
	rt.inline_break = end;
	return result;
}

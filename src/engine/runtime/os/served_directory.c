/*
 * Entries of a directory in the order of their names: file systems differ in theirs.
 *
 *     read from its beginning ──► all entries are read, and sorted ──► as many as fit are given, call by call
 *
 * What always holds:
 *  1. The file's position is the kernel's, behind the entry that was given last: rewinddir, telldir and seekdir,
 *     duplicated descriptors and forks work by it as ever. What is kept here can be lost: then the rest comes in the
 *     kernel's order.
 *  2. What the kernel gave is given, each entry once. A directory that is too large (BYTES_MOST), or whose entries
 *     have no positions of their own, comes in the kernel's order.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/thread.h"

enum { NR_fstat = 5, NR_getdents = 78, NR_getdents64 = 217, SEEK_SET_ = 0, SEEK_CUR_ = 1, ENTRY_MOST = 280 };
#define KEPT 32u
#define BYTES_LEAST (64u << 10)
#define BYTES_MOST (64u << 20)
#define STAT_BYTES 144u
#define OLD_NAME_AT 18u

struct directory_entry {
	uint64_t inode, behind;
	uint16_t bytes;
	uint8_t type;
	char name[];
} __attribute__((packed));
_Static_assert(sizeof(struct directory_entry) == 19, "the kernel's layout");

static struct directory {
	uint64_t device, inode, used; /* device 0: free */
	uint8_t *bytes;
	uint64_t room;
	/* where entries are in `bytes`: by name, and by the position behind them */
	uint32_t *by_name, *by_place;
	uint32_t count;
} kept[KEPT];
static uint64_t uses;
static uint32_t directories_lock;

static void forget(struct directory *d)
{
	if (d->bytes)
		sys2(SYS_munmap, d->bytes, d->room);
	*d = (struct directory){0};
}

static void *room(uint64_t bytes)
{
	long p = sys6(SYS_mmap, memory_place(bytes), bytes, PROT_READ_ | PROT_WRITE_,
		      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
	return failed(p) ? NULL : (void *)p;
}

static const struct directory_entry *entry_at(const struct directory *d, uint32_t at)
{
	return (const struct directory_entry *)(d->bytes + at);
}

static bool name_before(const struct directory *d, uint32_t a, uint32_t b)
{
	const char *x = entry_at(d, a)->name, *y = entry_at(d, b)->name;
	while (*x && *x == *y)
		x++, y++;
	return (uint8_t)*x < (uint8_t)*y;
}

static bool place_before(const struct directory *d, uint32_t a, uint32_t b)
{
	return entry_at(d, a)->behind < entry_at(d, b)->behind;
}

typedef bool comparison(const struct directory *d, uint32_t a, uint32_t b);

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t kept_a = *a;
	*a = *b, *b = kept_a;
}

static void sift(const struct directory *d, uint32_t *order, uint32_t root, uint32_t n, comparison *less)
{
	for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && less(d, order[child], order[child + 1]))
			child++;
		if (!less(d, order[root], order[child]))
			return;
		swap(&order[root], &order[child]);
	}
}

/* Heapsort: in place, and never slow. */
static void sort(const struct directory *d, uint32_t *order, comparison *less)
{
	for (uint32_t i = d->count / 2; i-- > 0;)
		sift(d, order, i, d->count, less);
	for (uint32_t n = d->count; n > 1; n--) {
		swap(&order[0], &order[n - 1]);
		sift(d, order, 0, n - 1, less);
	}
}

static bool grow(struct directory *d, uint64_t used, uint64_t larger)
{
	uint8_t *more = larger <= BYTES_MOST ? room(larger) : NULL;
	if (!more)
		return false;
	memcpy(more, d->bytes, used);
	sys2(SYS_munmap, d->bytes, d->room);
	d->bytes = more, d->room = larger;
	return true;
}

/* All of it, from its beginning. False: it is not to be kept. */
static bool read_all(struct directory *d, uint64_t fd)
{
	uint64_t used = 0;
	d->room = BYTES_LEAST;
	d->bytes = room(d->room);
	if (!d->bytes)
		return false;
	for (long got = 1; got;) {
		if (d->room - used < ENTRY_MOST && !grow(d, used, d->room * 4))
			return false;
		got = sys3(NR_getdents64, fd, d->bytes + used, d->room - used);
		if (failed(got))
			return false;
		used += (uint64_t)got;
	}
	/* the two orders go behind them */
	uint64_t orders = (used + 7) & ~7ull, most = used / sizeof(struct directory_entry) + 1;
	if (orders + most * 8 > d->room && !grow(d, used, orders + most * 8))
		return false;
	d->by_name = (uint32_t *)(d->bytes + orders), d->by_place = d->by_name + most;
	for (uint64_t i = 0; i < used; i += entry_at(d, (uint32_t)i)->bytes, d->count++)
		d->by_name[d->count] = d->by_place[d->count] = (uint32_t)i;
	sort(d, d->by_name, name_before);
	sort(d, d->by_place, place_before);
	for (uint32_t i = 0; i < d->count; i++) {
		struct directory_entry *e = (struct directory_entry *)(d->bytes + d->by_name[i]);
		e->inode = served_number(e->inode);
	}
	return true;
}

/* Each entry has a place of its own behind it. */
static bool has_places(const struct directory *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (!entry_at(d, d->by_place[i])->behind ||
		    (i && !place_before(d, d->by_place[i - 1], d->by_place[i])))
			return false;
	return true;
}

/* How many were given when the file's position is that. False: no entry ends there. */
static bool given(const struct directory *d, uint64_t position, uint32_t *n)
{
	uint32_t low = 0, high = d->count;
	*n = 0;
	if (!position)
		return true;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (entry_at(d, d->by_place[middle])->behind < position)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == d->count || entry_at(d, d->by_place[low])->behind != position)
		return false;
	uint32_t last = d->by_place[low];
	for (low = 0, high = d->count; low < high;) {
		uint32_t middle = (low + high) / 2;
		if (name_before(d, d->by_name[middle], last))
			low = middle + 1;
		else
			high = middle;
	}
	*n = low + 1;
	return true;
}

/* The directory as it is known; from its beginning it is read anew. NULL: in the kernel's order. */
static struct directory *find(uint64_t fd, uint64_t position)
{
	uint64_t st[STAT_BYTES / 8];
	struct directory *d = &kept[0];
	if (failed(sys2(NR_fstat, fd, st)))
		return NULL;
	for (unsigned i = 0; i < KEPT; i++) {
		bool same = kept[i].bytes && kept[i].device == st[0] && kept[i].inode == st[1];
		if (same && position)
			return &kept[i];
		if (same || kept[i].used < d->used)
			d = &kept[i];
		if (same)
			break;
	}
	if (position)
		return NULL;
	forget(d);
	d->device = st[0], d->inode = st[1];
	if (read_all(d, fd) && has_places(d))
		return d;
	forget(d);
	sys3(SYS_lseek, fd, 0, SEEK_SET_);
	return NULL;
}

/* As the older call has it: the name comes first, and the type is the last byte. It takes as many bytes. */
static bool give_old(uint64_t to, const struct directory_entry *e)
{
	uint8_t copy[ENTRY_MOST] = {0};
	uint64_t name = text_length(e->name);
	if (e->bytes > ENTRY_MOST)
		return false;
	memcpy(copy, e, OLD_NAME_AT);
	memcpy(copy + OLD_NAME_AT, e->name, name);
	copy[e->bytes - 1] = e->type;
	return safe_copy((void *)to, copy, e->bytes);
}

static long give(struct directory *d, uint64_t fd, uint32_t next, uint64_t to, uint64_t bytes, bool old)
{
	uint64_t used = 0;
	const struct directory_entry *last = NULL;
	for (; next < d->count; next++) {
		const struct directory_entry *e = entry_at(d, d->by_name[next]);
		if (used + e->bytes > bytes)
			break;
		if (old ? !give_old(to + used, e) : !safe_copy((void *)(to + used), e, e->bytes))
			return -EFAULT_;
		served_saw_bytes(RECORD_SAW_DIRECTORY, (const uint8_t *)e->name, text_length(e->name) + 1);
		used += e->bytes;
		last = e;
	}
	if (!last && next < d->count)
		return -EINVAL_;
	if (last)
		sys3(SYS_lseek, fd, last->behind, SEEK_SET_);
	return (long)used;
}

/* What came in the kernel's order. */
void served_entries(uint64_t at, uint64_t bytes)
{
	struct directory_entry e = {.bytes = sizeof e};
	for (uint64_t i = 0; i + sizeof e <= bytes && e.bytes; i += e.bytes) {
		if (!safe_copy(&e, (const void *)(at + i), sizeof e))
			return;
		e.inode = served_number(e.inode);
		safe_copy((void *)(at + i), &e.inode, sizeof e.inode);
	}
}

bool served_directory(const struct thread *t, uint64_t nr, long *result)
{
	uint64_t fd = t->reg[X86_RDI];
	uint32_t next;
	long position = sys3(SYS_lseek, fd, 0, SEEK_CUR_);
	if (failed(position))
		return false;
	lock_word(&directories_lock);
	struct directory *d = find(fd, (uint64_t)position);
	bool served = d && given(d, (uint64_t)position, &next);
	if (served) {
		d->used = ++uses;
		*result = give(d, fd, next, t->reg[X86_RSI], (uint32_t)t->reg[X86_RDX], nr == NR_getdents);
	}
	unlock_word(&directories_lock);
	return served;
}

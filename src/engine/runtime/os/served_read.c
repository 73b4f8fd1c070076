/*
 * What the program has read, where it is chosen what it sees of the machine: random devices give served random
 * numbers, and of all else the bytes are noted by the kind of what they came from (enum record_saw).
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/thread.h"

enum { NR_fstat = 5, NR_fstatfs = 138, NR_preadv = 295 };

void served_give_random(uint64_t to, uint64_t bytes)
{
	while (bytes) {
		uint64_t number = served_random(), n = bytes < 8 ? bytes : 8;
		if (!safe_copy((void *)to, &number, n))
			return;
		to += n, bytes -= n;
	}
	served_saw(RECORD_SAW_RANDOM, 0);
}

struct stat_head {
	uint64_t device, inode, links;
	uint32_t mode, uid, gid, pad;
	uint64_t special, rest[12];
};
_Static_assert(sizeof(struct stat_head) == 144, "the kernel's layout");
enum {
	KIND_MASK = 0170000,
	KIND_CHARACTER = 0020000,
	KIND_DIRECTORY = 0040000,
	KIND_FILE = 0100000,
	KIND_PIPE = 0010000,
	KIND_SOCKET = 0140000
};
#define RANDOM_DEVICE 0x108u  /* 1:8 */
#define URANDOM_DEVICE 0x109u /* 1:9 */

static bool is_random(const struct stat_head *st)
{
	return (st->mode & KIND_MASK) == KIND_CHARACTER &&
	       (st->special == RANDOM_DEVICE || st->special == URANDOM_DEVICE);
}

/* Of /proc and /sys, cgroups and what else the kernel writes itself; memory and layers of disks are files. */
static bool is_kernels(uint64_t fd)
{
	enum {
		PROC = 0x9fa0,
		SYSFS = 0x62656572,
		CGROUP = 0x27e0eb,
		CGROUP2 = 0x63677270,
		DEBUGFS = 0x64626720,
		TRACEFS = 0x74726163,
		SECURITYFS = 0x73636673
	}; /* linux/magic.h */
	static const uint32_t kinds[] = {PROC, SYSFS, CGROUP, CGROUP2, DEBUGFS, TRACEFS, SECURITYFS};
	uint64_t about[15] = {0}; /* struct statfs: its kind comes first */
	if (failed(sys2(NR_fstatfs, fd, about)))
		return false;
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (about[0] == kinds[i])
			return true;
	return false;
}

static enum record_saw kind_of(const struct stat_head *st, uint64_t fd)
{
	switch (st->mode & KIND_MASK) {
	case KIND_FILE:
		return !(st->device >> 8 & 0xfff) && is_kernels(fd) ? RECORD_SAW_SYSTEM_FILE : RECORD_SAW_FILE;
	case KIND_PIPE: return RECORD_SAW_PIPE;
	case KIND_SOCKET: return RECORD_SAW_SOCKET;
	default: return RECORD_SAW_DEVICE;
	}
}

void served_look_at_bytes(enum record_saw kind, uint64_t at, uint64_t bytes)
{
	uint8_t copy[512];
	while (bytes) {
		uint64_t n = bytes < sizeof copy ? bytes : sizeof copy;
		if (!safe_copy(copy, (const void *)at, n))
			return;
		served_saw_bytes(kind, copy, n);
		at += n, bytes -= n;
	}
}

void served_was_read(struct thread *t, uint64_t nr, uint64_t bytes)
{
	struct stat_head st;
	const uint64_t *r = t->reg;
	if (failed(sys2(NR_fstat, r[X86_RDI], &st)))
		return;
	bool random = is_random(&st), vector = nr == SYS_readv || nr == NR_preadv;
	struct {
		uint64_t at, bytes;
	} piece = {r[X86_RSI], bytes};
	for (uint64_t i = 0; bytes; i++) {
		if (vector && (!safe_copy(&piece, (const void *)(r[X86_RSI] + i * sizeof piece), sizeof piece) ||
			       i == r[X86_RDX]))
			return;
		uint64_t n = piece.bytes < bytes ? piece.bytes : bytes;
		if (random)
			served_give_random(piece.at, n);
		else
			served_look_at_bytes(kind_of(&st, r[X86_RDI]), piece.at, n);
		bytes -= n;
	}
}

/*
 * What calls say of files, where it is chosen what the program sees of the machine. A file's name, kind, size,
 * mode and times are the program's input, as its contents are. How the file system keeps it is not:
 *
 *     block size                             4096
 *     blocks of 512 bytes                    as many as its size takes, in units of 4096; of a large file with
 *     holes, its own
 *     a directory's size and links           4096 bytes; 1 link, which says that it may have directories in it
 *     statx                                  what stat says, and no more: no birth time, mount or direct I/O
 *     device, number (inode)                 2^28 and 2^50 more than the file system's, so that they have as many
 *     digits everywhere: python makes objects of them
 *     extended attributes                    "not supported" reads as "there is none"
 *     a terminal's size                      80 columns, 24 lines
 *
 * What always holds:
 *  1. Two files have the same device and number where they have them really, in each process of each run; entries
 *     of directories have the same numbers. Pipes and sockets keep theirs, which /proc/self/fd shows as text.
 *     Values themselves are the machine's: they, the times and the owners are noted as seen
 *     (RECORD_SAW_ATTRIBUTES).
 *  2. What the program cannot write to is not written: the kernel has written there before.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/thread.h"

enum { /* asm/unistd_64.h */
       NR_stat = 4,
       NR_fstat = 5,
       NR_lstat = 6,
       NR_getxattr = 191,
       NR_lgetxattr = 192,
       NR_fgetxattr = 193,
       NR_listxattr = 194,
       NR_llistxattr = 195,
       NR_flistxattr = 196,
       NR_newfstatat = 262,
       NR_statx = 332
};
enum { ENODATA_ = 61, TIOCGWINSZ_ = 0x5413, AT_EMPTY_PATH_ = 0x1000 };
enum {
	KIND_MASK = 0170000,
	KIND_DIRECTORY = 0040000,
	KIND_FILE = 0100000,
	KIND_LINK = 0120000,
	KIND_PIPE = 0010000,
	KIND_SOCKET = 0140000
};
#define UNIT 4096u
#define HOLES_FROM (1u << 20) /* smaller files are written whole where they are copied */

struct file_stat {
	uint64_t device, inode, links;
	uint32_t mode, uid, gid, pad;
	uint64_t special, size, unit, blocks, accessed[2], modified[2], changed[2], unused[3];
};
_Static_assert(sizeof(struct file_stat) == 144, "the kernel's layout");

struct file_statx {
	uint32_t mask, unit;
	uint64_t attributes;
	uint32_t links, uid, gid;
	uint16_t mode, pad;
	uint64_t inode, size, blocks, attributes_mask;
	uint64_t accessed[2], born[2], changed[2], modified[2];
	uint32_t special[2], device[2];
	uint64_t further[14];
};
_Static_assert(sizeof(struct file_statx) == 256, "the kernel's layout");
#define STATX_BASIC 0x7ffu
#define ATTRIBUTES_SHOWN 0x3074u /* compressed, immutable, append, nodump; of mounts. From Linux 5.8 on */

#define DEVICES (1ull << 28)
#define NUMBERS (1ull << 50)

uint64_t served_number(uint64_t inode) { return inode && inode < NUMBERS ? inode + NUMBERS : inode; }
static uint64_t device_shown(uint64_t device) { return device < DEVICES ? device + DEVICES : device; }
static bool is_channel(uint32_t kind) { return kind == KIND_PIPE || kind == KIND_SOCKET; }

static uint64_t blocks_of(uint64_t size, uint64_t blocks)
{
	return size >= HOLES_FROM && blocks * 512 < size ? blocks : (size + UNIT - 1) / UNIT * (UNIT / 512);
}

static uint64_t blocks_of_kind(uint32_t kind, uint64_t size, uint64_t blocks)
{
	return kind == KIND_FILE ? blocks_of(size, blocks) : kind == KIND_DIRECTORY ? UNIT / 512 : 0;
}

/* As stat has it in one word (new_encode_dev). */
static uint64_t device_number(uint32_t major, uint32_t minor)
{
	return (minor & 0xff) | (uint64_t)major << 8 | (uint64_t)(minor & ~0xffu) << 12;
}

static void saw(uint64_t device, uint64_t inode, uint64_t owner, const uint64_t *modified, const uint64_t *changed)
{
	const uint64_t values[] = {device, inode, owner, modified[0], modified[1], changed[0], changed[1]};
	served_saw_bytes(RECORD_SAW_ATTRIBUTES, (const uint8_t *)values, sizeof values);
}

static void serve_stat(uint64_t at, bool stream)
{
	struct file_stat st;
	if (!safe_copy(&st, (const void *)at, sizeof st))
		return;
	uint32_t kind = st.mode & KIND_MASK;
	if (!stream && (kind == KIND_DIRECTORY || kind == KIND_FILE))
		saw(st.device, st.inode, (uint64_t)st.uid << 32 | st.gid, st.modified, st.changed);
	if (kind == KIND_DIRECTORY) {
		st.links = st.links != 0;
		st.size = UNIT;
	}
	st.device = device_shown(st.device);
	st.inode = is_channel(kind) ? st.inode : served_number(st.inode);
	st.unit = UNIT;
	st.blocks = blocks_of_kind(kind, st.size, st.blocks);
	safe_copy((void *)at, &st, sizeof st);
}

static void serve_statx(uint64_t at, bool stream)
{
	struct file_statx st;
	if (!safe_copy(&st, (const void *)at, sizeof st))
		return;
	uint32_t kind = st.mode & KIND_MASK;
	st.mask &= STATX_BASIC;
	st.attributes &= ATTRIBUTES_SHOWN;
	st.attributes_mask &= ATTRIBUTES_SHOWN;
	memset(st.born, 0, sizeof st.born);
	memset(st.further, 0, sizeof st.further);
	if (!stream && (kind == KIND_DIRECTORY || kind == KIND_FILE))
		saw((uint64_t)st.device[0] << 32 | st.device[1], st.inode, (uint64_t)st.uid << 32 | st.gid,
		    st.modified, st.changed);
	if (kind == KIND_DIRECTORY) {
		st.links = st.links != 0;
		st.size = UNIT;
	}
	uint64_t device = device_shown(device_number(st.device[0], st.device[1]));
	st.device[0] = (uint32_t)(device >> 8 & 0xfff),
	st.device[1] = (uint32_t)(device & 0xff) | (uint32_t)(device >> 12 & ~0xffull);
	st.inode = is_channel(kind) ? st.inode : served_number(st.inode);
	st.unit = UNIT;
	st.blocks = blocks_of_kind(kind, st.size, st.blocks);
	safe_copy((void *)at, &st, sizeof st);
}

/* The streams that the program begins with: tare's own files, with --program-output. */
static bool is_stream(uint64_t fd, uint64_t flags) { return fd <= STDERR_ && (flags & AT_EMPTY_PATH_); }

void served_attributes(const struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	const uint16_t size[4] = {24, 80, 0, 0};
	switch (nr) {
	case NR_stat:
	case NR_lstat: serve_stat(r[X86_RSI], false); break;
	case NR_fstat: serve_stat(r[X86_RSI], r[X86_RDI] <= STDERR_); break;
	case NR_newfstatat: serve_stat(r[X86_RDX], is_stream(r[X86_RDI], r[X86_R10])); break;
	case NR_statx: serve_statx(r[X86_R8], is_stream(r[X86_RDI], r[X86_RDX])); break;
	case SYS_ioctl:
		if ((uint32_t)r[X86_RSI] == TIOCGWINSZ_)
			safe_copy((void *)r[X86_RDX], size, sizeof size);
		break;
	}
}

long served_unsupported(uint64_t nr, long result)
{
	if (result != -EOPNOTSUPP_)
		return result;
	switch (nr) {
	case NR_getxattr:
	case NR_lgetxattr:
	case NR_fgetxattr: return -ENODATA_;
	case NR_listxattr:
	case NR_llistxattr:
	case NR_flistxattr: return 0;
	}
	return result;
}

/*
 * A process that is about to change what it may do (its user, group, capabilities, root or namespaces) leaves the
 * record that it shares with others. It goes on in a part (part.c) that lies in a record of its own: a file that
 * it makes itself and that the attendant takes from it before the call is made.
 *
 *     shared record ──(the attendant has taken the new one)──► own record ──fork──► shared with its children, until one of them changes
 *                   └(there is none, or no such file)────────► memory that nobody reads: not counted from there on, which is said
 *
 * What always holds:
 *  1. Before the call is made, no mapping of the record that was left is in the process: all that is known is
 *     moved or replaced by memory of its own, and so is what /proc, where there is one, still shows of that file.
 *  2. A process that is alone in its record already stays in it: a fork, or a child that shares memory, ends that.
 *  3. A child that shares its parent's memory is its parent's: it cannot leave alone. What it executes after a
 *     change runs natively.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum {
	SETUID = 105,
	SETGID = 106,
	SETREUID = 113,
	SETREGID = 114,
	SETGROUPS = 116,
	SETRESUID = 117,
	GETRESUID = 118,
	SETRESGID = 119,
	GETRESGID = 120,
	SETFSUID = 122,
	SETFSGID = 123,
	CAPSET = 126,
	PIVOT_ROOT = 155,
	CHROOT = 161,
	UNSHARE = 272,
	SETNS = 308
};
enum { PR_CAPBSET_DROP = 24, PR_SET_SECUREBITS = 28, PR_CAP_AMBIENT = 47 };
enum {
	MEMFD_CREATE = 319,
	FTRUNCATE = 77,
	PWRITE64 = 18,
	FCNTL = 72,
	FSTAT = 5,
	ADD_SEALS = 1033,
	SEALS = 1 | 2 | 4,
	RLIMIT_FSIZE = 1
};
#define NEW_NAMESPACES 0x7e020080ull /* CLONE_NEW… */
#define LEAST_BYTES (1ull << 30)

static const char without[] = "it changed its user, group, capabilities, root or namespaces, and could not be "
			      "given a record of its own: it is not counted from there on";

/* ---- which calls ------------------------------------------------------------------------------------ */

/* set…id(id, …): to what they all are already? -1 leaves one as it is. */
static bool same_ids(long get, const uint64_t *ids, unsigned n)
{
	uint32_t now[3];
	bool same = !failed(sys3(get, &now[0], &now[1], &now[2])) && now[0] == now[1] && now[1] == now[2];
	for (unsigned i = 0; i < n; i++)
		same &= (uint32_t)ids[i] == ~0u || (uint32_t)ids[i] == now[0];
	return same;
}

static bool changes(const struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg, ids[3] = {r[X86_RDI], r[X86_RSI], r[X86_RDX]};
	switch (nr) {
	case SETUID: return !same_ids(GETRESUID, ids, 1);
	case SETGID: return !same_ids(GETRESGID, ids, 1);
	case SETREUID: return !same_ids(GETRESUID, ids, 2);
	case SETREGID: return !same_ids(GETRESGID, ids, 2);
	case SETRESUID: return !same_ids(GETRESUID, ids, 3);
	case SETRESGID: return !same_ids(GETRESGID, ids, 3);
	case SETFSUID:
	case SETFSGID: return (uint32_t)ids[0] != ~0u; /* -1 asks which it is */
	case SETGROUPS:
	case CAPSET:
	case SETNS:
	case CHROOT:
	case PIVOT_ROOT: return true;
	case UNSHARE: return (ids[0] & NEW_NAMESPACES) != 0;
	case SYS_prctl:
		return (uint32_t)ids[0] == PR_CAPBSET_DROP || (uint32_t)ids[0] == PR_SET_SECUREBITS ||
		       (uint32_t)ids[0] == PR_CAP_AMBIENT;
	default: return false;
	}
}

/* ---- the new record --------------------------------------------------------------------------------- */

static long new_file(void)
{
	uint64_t limit[2] = {~0ull, ~0ull}, bytes = RECORD_FILE_BYTES;
	sys2(SYS_getrlimit, RLIMIT_FSIZE, limit); /* beyond it, a signal */
	if (limit[0] < bytes)
		bytes = limit[0] & ~(uint64_t)(RECORD_PAGE - 1);
	if (bytes < LEAST_BYTES)
		return -ENOMEM_;
	long fd = sys2(MEMFD_CREATE, "tare-record", 1 | 8); /* MFD_CLOEXEC, MFD_NOEXEC_SEAL */
	if (fd == -EINVAL_)
		fd = sys2(MEMFD_CREATE, "tare-record", 1 | 2);
	if (failed(fd))
		return fd;
	if (!failed(sys2(FTRUNCATE, fd, bytes)) &&
	    sys4(PWRITE64, fd, rt.setup, sizeof *rt.setup, 0) == (long)sizeof *rt.setup &&
	    !failed(sys3(FCNTL, fd, ADD_SEALS, SEALS)))
		return fd;
	sys1(SYS_close, fd);
	return -ENOMEM_;
}

/* The attendant takes the file, or refuses. */
static bool handed_over(long fd)
{
	struct record_process *process = rt.process;
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	uint32_t answer;
	if (!attendant_lives())
		return false;
	sys2(SYS_prctl, PR_SET_PTRACER_, rt.record->attendant_pid);
	process->ask_tid = (uint32_t)sys0(SYS_gettid);
	process->own_fd = (uint32_t)fd;
	__atomic_store_n(&process->ask, RECORD_ASK_OWN, __ATOMIC_RELEASE);
	request(process);
	while ((answer = __atomic_load_n(&process->ask, __ATOMIC_ACQUIRE)) != RECORD_ASK_GRANTED &&
	       answer != RECORD_ASK_REFUSED) {
		if (!attendant_lives())
			break;
		sys4(SYS_futex, &process->ask, FUTEX_WAIT_, answer, &wait);
	}
	__atomic_store_n(&process->ask, RECORD_ASK_NONE, __ATOMIC_RELEASE);
	return answer == RECORD_ASK_GRANTED;
}

/* The table of the record, where that of the one before was: from here on rt.record is the new one. */
static bool map_table(long fd)
{
	if (!failed(fd))
		return !failed(sys6(SYS_mmap, (uint64_t)rt.record, RECORD_SPACE_OFFSET, PROT_READ_ | PROT_WRITE_,
				    MAP_SHARED_ | MAP_FIXED_ | MAP_NORESERVE_, (uint64_t)fd, 0));
	/* nobody reads it, but the engine writes to it as to every other */
	for (uint64_t bytes = 1ull << 40; bytes >= LEAST_BYTES; bytes >>= 1) {
		long p = sys6(SYS_mmap, 0, bytes, PROT_READ_ | PROT_WRITE_,
			      MAP_SHARED_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
		if (failed(p))
			continue;
		bool moved = !failed(
			sys5(SYS_mremap, p, 0, RECORD_SPACE_OFFSET, MREMAP_MAYMOVE_ | MREMAP_FIXED_, rt.record));
		sys2(SYS_munmap, p, bytes);
		if (moved)
			memcpy(rt.record, rt.setup, sizeof *rt.setup);
		return moved;
	}
	return false;
}

/* ---- what is left of the old one ---------------------------------------------------------------------- */

static struct {
	uint64_t device, inode;
} old_file;

static void find_file(const struct mapping *m, void *context)
{
	(void)context;
	if (m->start <= (uint64_t)rt.record && (uint64_t)rt.record < m->end)
		old_file.device = m->device, old_file.inode = m->inode;
}

static void replace(const struct mapping *m, void *context)
{
	bool *done = context;
	if (m->inode == old_file.inode && m->device == old_file.device)
		*done &= !failed(sys6(SYS_mmap, m->start, m->end - m->start, PROT_READ_ | PROT_WRITE_,
				      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_FIXED_ | MAP_NORESERVE_, (uint64_t)-1,
				      0));
}

/* ---- leaving ---------------------------------------------------------------------------------------- */

static void own_record_leave(struct thread *t)
{
	struct record_process *old = rt.process;
	struct record_code_file code_files[RECORD_CODE_FILES];
	uint32_t claims = rt.record->code_file_claims, count = rt.record->code_file_count;
	bool replaced = true;
	memcpy(code_files, rt.record->code_files, sizeof code_files);
	old_file.inode = 0;
	maps_read(find_file, NULL);
	long fd = new_file();
	bool given = !failed(fd) && handed_over(fd);
	if (!given && !failed(fd)) {
		sys1(SYS_close, fd);
		fd = -ENOMEM_;
	}
	uint32_t pid = old->pid;
	part_ends(NULL);
	if (!given)
		inexact(without);
	old->left = given;
	__atomic_store_n(&old->state, RECORD_CONTINUED, __ATOMIC_RELEASE);
	if (!map_table(fd))
		die("no memory for a record of its own", t->pc);
	if (given)
		sys1(SYS_close, fd);
	rt.base_offset = ~0ull;
	rt.before = NULL;
	memcpy(rt.record->code_files, code_files, sizeof code_files);
	rt.record->code_file_claims = claims, rt.record->code_file_count = count;
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		thread_leaves_record(rt.threads[i],
				     rt.slot_state[i] || (rt.trace && rt.threads[i]->process == old));
	rt.leaving = 1;
	struct record_process *fresh = thread_part(old);
	if (!fresh)
		die("no room in a record of its own", t->pc);
	fresh->parent = RECORD_NONE, fresh->continues = 0, fresh->regions = 0;
	part_begins(t, old, fresh, true);
	fresh->calls = 0;
	if (!stream_record_left(fresh) || !stream_calls_reopen(fresh, NULL) || !called_reopen(fresh) ||
	    !regions_moved(fresh))
		die("no memory for a record of its own", t->pc);
	rt.leaving = 0;
	part_calls_move(false);
	fresh->pid = pid;
	__atomic_store_n(&fresh->state, RECORD_RUNNING, __ATOMIC_RELEASE);
	if (old_file.inode && (!maps_read(replace, &replaced) || !replaced))
		die("what the program shared with others could not be taken from it", t->pc);
	rt.alone = 1;
}

static bool leave(struct thread *t)
{
	uint64_t all = ~0ull;
	lock();
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, 0, MASK_BYTES);
	bool left = part_exclusively(t, own_record_leave);
	unlock();
	signal_set_mask(t, t->mask);
	return left;
}

void own_record_before(struct thread *t, uint64_t nr)
{
	if (!changes(t, nr))
		return;
	if (t->process != rt.process) {
		t->changed = 1;
		return;
	}
	if (!rt.alone && !leave(t))
		inexact("it changed its user, group, capabilities, root or namespaces while a child shared its "
			"memory: it stays in the record that it shares with others");
}

bool own_record_flags(uint64_t flags) { return (flags & NEW_NAMESPACES) != 0; }

void own_record_child(struct thread *t)
{
	t->call_block = NONE; /* its parent's */
	leave(t);
}

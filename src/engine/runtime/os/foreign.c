/*
 * A process that writes into the memory of another one of the record, by process_vm_writev(2) or /proc/PID/mem.
 *
 * The other's engine would not see that its code is another now, and what it protects against writing could not be
 * written by the first of the two calls.
 *
 *     writer:  notice ──► waits each thread of the other in a system call? ──► the write, past its engine's protection
 *     other:   … the call ends ──► files_look(): its code is forgotten, writable code compared from now on
 *
 * What always holds:
 *  1. Where that protection is in the way, and before each write to /proc/PID/mem, the notice comes before the
 *     write. A thread that was in a system call then looks before it executes anything. One that was not may execute
 *     old code until its next call: then the other process is marked not exact.
 *  2. What the program itself has made unwritable stays so: the other's own list of its mappings is asked.
 *  3. What is read of the other is untrusted. It decides only about writes that the program may make by itself.
 *
 * Not seen: a process that is not in this record, or whose engine lies elsewhere.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum { SYS_process_vm_readv = 310, O_WRONLY_CLOEXEC = 02000001, PIECE = 32 };

struct vector {
	uint64_t at, bytes;
};

struct other {
	uint32_t pid;
	struct record_process *process;
	const struct watched_mapping *mappings;
	uint32_t mapping_count;
};

static bool read_other(uint32_t pid, void *to, const void *from, uint64_t bytes)
{
	struct vector here = {(uint64_t)to, bytes}, there = {(uint64_t)from, bytes};
	return sys6(SYS_process_vm_readv, pid, (uint64_t)&here, 1, (uint64_t)&there, 1, 0) == (long)bytes;
}

struct record_process *foreign_process(uint32_t id)
{
	struct record_process *all = (struct record_process *)((uint8_t *)rt.record + RECORD_PROCESSES_OFFSET);
	uint32_t count = __atomic_load_n(&rt.record->process_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count && i < RECORD_PROCESSES_MAX; i++)
		if (all[i].state == RECORD_RUNNING && all[i].pid &&
		    (all[i].pid == id || /* a thread's number stands for it */
		     (!rt.calls_denied && !sys3(SYS_tgkill, all[i].pid, id, 0))))
			return &all[i];
	return NULL;
}

bool foreign_own(uint32_t id)
{
	long own = sys0(SYS_getpid);
	return id == (uint32_t)own || (!rt.calls_denied && !sys3(SYS_tgkill, own, id, 0));
}

/* Its engine is at the same place, and so is its state. What lies behind that, as translations which processes
 * share, may be another. */
static bool look_at(struct other *other)
{
	uint64_t image;
	if (!read_other(other->pid, &image, &rt.image, sizeof image) || image != rt.image ||
	    !read_other(other->pid, &other->mappings, &rt.mappings, 8) ||
	    !read_other(other->pid, &other->mapping_count, &rt.mapping_count, 4))
		return false;
	return other->mapping_count <= MAPPINGS_MAX;
}

/* The protection that its program gave a page of code; 0: there is none. */
static uint32_t protection_of(const struct other *other, uint64_t start, uint64_t end)
{
	struct watched_mapping piece[PIECE];
	for (uint32_t at = 0; at < other->mapping_count; at += PIECE) {
		uint32_t n = other->mapping_count - at < PIECE ? other->mapping_count - at : PIECE;
		if (!read_other(other->pid, piece, other->mappings + at, n * sizeof *piece))
			return 0;
		for (uint32_t i = 0; i < n; i++)
			if (piece[i].start < end && piece[i].end > start && (piece[i].protection & PROT_EXEC_))
				return piece[i].protection;
	}
	return 0;
}

static bool all_wait(uint32_t pid)
{
	struct thread **threads;
	uint32_t *states, most;
	if (!read_other(pid, &threads, &rt.threads, 8) || !read_other(pid, &states, &rt.slot_state, 8) ||
	    !read_other(pid, &most, &rt.slots_max, 4))
		return false;
	for (uint32_t i = 0; i < most; i++) {
		struct thread *thread;
		uint32_t state, in_call;
		if (!read_other(pid, &thread, threads + i, 8))
			return false;
		if (!thread)
			break;
		if (!read_other(pid, &state, states + i, 4) ||
		    (state && (!read_other(pid, &in_call, &thread->in_call, 4) || !in_call)))
			return false;
	}
	return true;
}

static void foreign_notice(struct record_process *process, const char *why)
{
	files_post_memory(process->pid);
	if (!all_wait(process->pid))
		inexact_process(process, why);
}

static bool vector_at(uint64_t vectors, uint64_t i, struct vector *vector)
{
	return safe_copy(vector, (const void *)(vectors + i * sizeof *vector), sizeof *vector);
}

static const char not_written[] = "another process could not write into its memory, perhaps its code";

/* Behind the bytes that were written, piece by piece of a page: the other's engine may have been in the way.
 * result: the call's. */
static long write_rest(const struct other *other, const uint64_t *r, long result)
{
	struct vector from = {0, 0}, to = {0, 0};
	uint64_t from_next = 0, to_next = 0, done = result > 0 ? (uint64_t)result : 0, skip = done;
	long memory = -1;
	char path[32] = "/proc/", digits[12];
	uint32_t n = 0;
	size_t length = text_length(path);
	for (uint32_t rest = other->pid; rest; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		path[length++] = digits[--n];
	memcpy(path + length, "/mem", 5);
	for (;;) {
		while (!from.bytes && from_next < r[X86_RDX])
			if (!vector_at(r[X86_RSI], from_next++, &from))
				goto out;
		while (!to.bytes && to_next < r[X86_R8])
			if (!vector_at(r[X86_R10], to_next++, &to))
				goto out;
		if (!from.bytes || !to.bytes)
			goto out;
		uint64_t bytes = from.bytes < to.bytes ? from.bytes : to.bytes, page = 4096 - to.at % 4096;
		long wrote;
		bytes = skip ? (skip < bytes ? skip : bytes) : page < bytes ? page : bytes;
		if (skip) {
			wrote = (long)bytes;
			skip -= bytes;
		} else {
			struct vector here = {from.at, bytes}, there = {to.at, bytes};
			wrote = sys6(SYS_process_vm_writev, other->pid, (uint64_t)&here, 1, (uint64_t)&there, 1,
				     0);
			if (wrote == -EFAULT_ && (protection_of(other, to.at, to.at + bytes) & PROT_WRITE_)) {
				if (memory < 0) {
					foreign_notice(other->process,
						       "another process wrote into its code while it ran");
					memory = sys3(SYS_open, path, O_WRONLY_CLOEXEC, 0);
				}
				wrote = memory < 0 ? memory : sys4(SYS_pwrite64, memory, from.at, bytes, to.at);
				if (wrote < 0 && wrote != -EFAULT_)
					inexact_process(other->process, not_written);
			}
			if (wrote <= 0)
				goto out;
			done += (uint64_t)wrote;
		}
		from.at += (uint64_t)wrote, from.bytes -= (uint64_t)wrote;
		to.at += (uint64_t)wrote, to.bytes -= (uint64_t)wrote;
	}
out:
	if (memory >= 0)
		sys1(SYS_close, memory);
	return done ? (long)done : result;
}

long foreign_write(struct thread *t, uint64_t nr)
{
	uint64_t *r = t->reg, bytes = 0;
	struct other other = {.process = foreign_process((uint32_t)r[X86_RDI])};
	long result = pass_on_unlocked(t, nr);
	if (!other.process || rt.calls_denied || (result < 0 && result != -EFAULT_))
		return result;
	for (uint64_t i = 0; i < r[X86_RDX]; i++) {
		struct vector from;
		if (!vector_at(r[X86_RSI], i, &from))
			break;
		bytes += from.bytes;
	}
	if (result >= 0 && (uint64_t)result >= bytes)
		return result;
	other.pid = other.process->pid;
	if (look_at(&other))
		return write_rest(&other, r, result);
	if (result < 0) /* its engine may protect what natively could be written */
		inexact_process(other.process, not_written);
	return result;
}

void foreign_file_write(long fd)
{
	uint32_t pid = file_memory_of(fd, 2);
	struct record_process *process = pid && !foreign_own(pid) ? foreign_process(pid) : NULL;
	if (process)
		foreign_notice(process, "another process wrote to its memory by /proc, perhaps into its code");
}

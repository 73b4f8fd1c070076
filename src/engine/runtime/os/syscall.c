/*
 * System calls. Most are passed on as they are; those here change what the engine must know, or would let the
 * program out of it.
 *
 * What always holds: a call that a signal prevents has not happened: the program goes on at its `syscall`, which
 * then is not counted; a call that the kernel itself rewinds has been executed and is counted again when it is
 * repeated. Of an argument that the kernel takes for an int, only the lower half is looked at.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/os/syscall_internal.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

static void count_call(struct thread *t, uint64_t nr)
{
	if (nr < RECORD_SYSCALLS)
		t->record->syscalls[nr]++;
	else
		t->record->syscalls_other++;
}

/* A call that may wait, with rt.lock free: the record may go on in another part meanwhile. */
long pass_on_unlocked(struct thread *t, uint64_t nr)
{
	enum signals_shown shown = signals_show(t, nr);
	if (shown == SIGNALS_CAME)
		return ABORTED;
	uint64_t ticks = 0;
	call_starts(t);
	call_begin(t, nr);
	long result = call_timed(t, nr, &ticks);
	/* woken for a signal that another thread, which blocks it too, took away: hand_on() brings it back */
	while (result == -EINTR_ && shown == SIGNALS_SHOWN && nr == SYS_rt_sigtimedwait &&
	       !(t->attention & ATTENTION_SIGNAL))
		result = call_timed(t, nr, &ticks);
	call_end(t);
	if (result != ABORTED) /* only now: until then the record may have been another part's */
		call_took(t, nr, ticks);
	if (shown == SIGNALS_SHOWN) {
		signals_hide(t);
		signals_as_sent(t, nr, result);
	}
	return result;
}

static long with_mask(struct thread *t, uint64_t nr, uint64_t mask_at, uint64_t size)
{
	uint64_t mask = 0;
	if (mask_at && size == 8 && safe_copy(&mask, (const void *)mask_at, 8)) {
		t->temporary_mask = mask & ~((1ull << 8) | (1ull << 18));
		t->has_temporary = 1;
	}
	long result = pass_on_unlocked(t, nr);
	if (result != -EINTR_ || !(t->attention & ATTENTION_SIGNAL))
		t->has_temporary = 0;
	return result;
}

static long prctl(struct thread *t, uint64_t nr)
{
	if ((uint32_t)t->reg[X86_RDI] == PR_SYSCALL_USER_DISPATCH)
		return dispatch_set(t);
	long result;
	if (filter_call(t, nr, &result))
		return result;
	if ((uint32_t)t->reg[X86_RDI] == PR_SET_TSC_)
		rt.no_tsc = 1;
	return call_make(t, nr);
}

static long arch(struct thread *t, uint64_t nr)
{
	uint64_t code = (uint32_t)t->reg[X86_RDI], value = t->reg[X86_RSI];
	if (code == ARCH_SET_GS_) {
		if (value >= TASK_SIZE_MAX_)
			return -EPERM_;
		t->app_gs = value;
		return 0;
	}
	if (code == ARCH_GET_GS_)
		return safe_copy((void *)value, &t->app_gs, 8) ? 0 : -EFAULT_;
	if (code == ARCH_SHSTK_ENABLE_) { /* a shadow stack would see the cache's returns */
		uint64_t on;
		bool none = !rt.calls_denied && sys2(SYS_arch_prctl, ARCH_SHSTK_STATUS_, &on) == -EINVAL_;
		return none ? -EINVAL_ : -EOPNOTSUPP_;
	}
	long result = call_make(t, nr);
	if (code == ARCH_SET_FS_)
		stream_fs_changed(t);
	return result;
}

static void poked(uint32_t pid, const char *why)
{
	struct record_process *process = foreign_process(pid);
	if (process)
		inexact_process(process, why);
}

/* Together they write code that the program may not, at any moment. */
static void ring_and_memory(void)
{
	if ((rt.foreign_writes & FOREIGN_RING) && (rt.foreign_writes & FOREIGN_MEMORY))
		inexact("io_uring may write code through /proc/PID/mem, which the engine does not see");
}

static void opened_file(long fd, uint64_t flags)
{
	uint32_t pid = file_memory_of(fd, flags);
	file_opened_how(fd, flags);
	own_status_opened(fd);
	if (!pid)
		return;
	if (!foreign_own(pid))
		poked(pid, "another process could write to its memory by /proc, perhaps into its code");
	lock(); /* also then: in a namespace of its own it may be called otherwise there */
	memory_foreign();
	rt.foreign_writes |= FOREIGN_MEMORY;
	ring_and_memory();
	unlock();
}

static long plain_call(struct thread *t, uint64_t nr, uint64_t next)
{
	uint64_t *r = t->reg;
	switch (nr) {
	case SYS_rt_sigaction: return signal_action(t, (uint32_t)r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10]);
	case SYS_rt_sigprocmask: return signal_mask(t, (uint32_t)r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10]);
	case SYS_sigaltstack: return signal_altstack(t, r[X86_RDI], r[X86_RSI]);
	case SYS_rt_sigsuspend: return with_mask(t, nr, r[X86_RDI], r[X86_RSI]);
	case SYS_ppoll: return with_mask(t, nr, r[X86_R10], r[X86_R8]);
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2: return with_mask(t, nr, r[X86_R8], r[X86_R9]);
	case SYS_pselect6:
	case SYS_io_pgetevents: {
		uint64_t pair[2] = {0, 0};
		if (r[X86_R9])
			safe_copy(pair, (const void *)r[X86_R9], 16);
		return with_mask(t, nr, pair[0], pair[1]);
	}
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_munmap:
	case SYS_madvise:
	case SYS_mremap:
	case SYS_shmat:
	case SYS_shmdt:
	case SYS_remap_file_pages:
	case SYS_mseal:
	case SYS_process_madvise: return mapping_call(t, nr);
	case SYS_brk: return heap_call(t);
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		if (t->attention & ATTENTION_SIGNAL)
			return ABORTED;
		return thread_clone(t, nr, next);
	case SYS_execve:
	case SYS_execveat: return exec_call(t, nr);
	case SYS_exit: thread_exit(t, r[X86_RDI]); break;
	case SYS_exit_group: process_exit(t, r[X86_RDI]); break;
	case SYS_rseq: return rseq_call(t, nr);
	case SYS_arch_prctl: return arch(t, nr);
	case SYS_prctl: return prctl(t, nr);
	case SYS_io_uring_setup: /* the kernel may write code whenever it likes */
		lock();
		memory_foreign();
		inline_careful();
		rt.foreign_writes |= FOREIGN_RING;
		ring_and_memory();
		unlock();
		break;
	case SYS_pkey_alloc:
		lock();
		inline_careful();
		unlock();
		break;
	case SYS_open:
	case SYS_openat: {
		uint64_t flags = nr == SYS_open ? r[X86_RSI] : r[X86_RDX];
		long result = pass_on_unlocked(t, nr);
		opened_file(result, flags);
		return result;
	}
	case SYS_userfaultfd: rt.user_faults = 1; break;
	case SYS_ioctl: /* of /dev/userfaultfd */
		if ((uint32_t)r[X86_RSI] == USERFAULTFD_IOC_NEW_)
			rt.user_faults = 1;
		break;
	case SYS_io_uring_enter: {
		long result = pass_on_unlocked(t, nr);
		if (rt.foreign_writes & FOREIGN_MEMORY) {
			lock();
			cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
			unlock();
		}
		return result;
	}
	case SYS_truncate: {
		long result = pass_on_unlocked(t, nr);
		if (!result)
			file_truncated((const char *)r[X86_RDI]);
		return result;
	}
	case SYS_creat:
	case SYS_memfd_create: {
		long result = pass_on_unlocked(t, nr);
		file_opened(result, nr == SYS_creat);
		return result;
	}
	case SYS_openat2: { /* its flags come first */
		uint64_t flags = 0;
		safe_copy(&flags, (const void *)r[X86_RDX], 8);
		long result = pass_on_unlocked(t, nr);
		opened_file(result, flags);
		return result;
	}
	case SYS_read:
	case SYS_pread64:
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2:
		if (rt.reads_proc) {
			long result = pass_on_unlocked(t, nr);
			own_status_read(t, nr, result);
			return result;
		}
		break;
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
		if (rt.foreign_writes & FOREIGN_MEMORY) { /* perhaps to /proc/PID/mem */
			foreign_file_write((int32_t)r[X86_RDI]);
			long result = pass_on_unlocked(t, nr);
			lock();
			cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
			unlock();
			return result;
		}
		break;
	case SYS_mlockall: {
		long result = pass_on_unlocked(t, nr);
		if (result == -ENOMEM_)
			inexact("mlockall failed: the engine's memory counts to what it would lock (ulimit -l?)");
		return result;
	}
	case SYS_seccomp: {
		long result;
		if (filter_call(t, nr, &result))
			return result;
		break;
	}
	case SYS_getrlimit:
	case SYS_setrlimit:
	case SYS_prlimit64: {
		long result;
		if (limits_call(t, nr, &result))
			return result;
		break;
	}
	/* into itself it is a write like any other, that the engine's protection must not stop */
	case SYS_process_vm_writev: {
		if (!foreign_own((uint32_t)r[X86_RDI]))
			return foreign_write(t, nr);
		written_everything(t);
		written_open(t);
		long result = pass_on_unlocked(t, nr);
		lock();
		cache_drop_range(ADDRESS_LEAST, ADDRESS_END);
		unlock();
		return result;
	}
	case SYS_ptrace:
		rt.traced |= r[X86_RDI] == PTRACE_TRACEME_;
		if (r[X86_RDI] == PTRACE_POKETEXT_ || r[X86_RDI] == PTRACE_POKEDATA_)
			poked((uint32_t)r[X86_RSI], "a tracer wrote into its memory, perhaps its code");
		inexact("the program traces a process, whose instructions under the engine are not where they "
			"would be");
		break;
	case SYS_signalfd:
	case SYS_signalfd4: rt.signal_descriptors = 1; break;
	case SYS_modify_ldt: rt.local_segments = 1; break;
	case SYS_set_tid_address: /* written at the thread's end */
		t->clear_tid = r[X86_RDI];
		written_add(t, t->clear_tid, 4);
		written_open(t);
		break;
	case SYS_set_robust_list: { /* what it leads to is written then */
		long result = pass_on_unlocked(t, nr);
		if (!result)
			t->robust_list = r[X86_RDI];
		return result;
	}
	case SYS_io_setup:
	case SYS_io_submit: /* what it begins is written later */
		lock();
		memory_foreign();
		unlock();
		break;
	}
	return pass_on_unlocked(t, nr);
}

static long one_call(struct thread *t, uint64_t nr, uint64_t next)
{
	return rt.served ? served_call(t, nr, next, plain_call) : plain_call(t, nr, next);
}

/* The kernel takes rax's lower half for the number. Before Linux 5.14 there was no call of such a number. */
static uint64_t number_of(uint64_t rax)
{
	if (!(rax >> 32) || (!rt.calls_denied && failed(sys0((long)(1ull << 32 | SYS_getpid)))))
		return rax;
	return (uint32_t)rax;
}

/* The `syscall` whose next instruction is `next`: on return t->pc says where the program goes on. */
void system_call(struct thread *t, uint32_t block, uint64_t next)
{
	uint64_t *r = t->reg, nr = number_of(r[X86_RAX]);
	rseq_watch(t);
	inline_unseen();
	t->pc = next - 2;
	t->call_block = block;
	t->call_done = rt.blocks[block].insns - 1u;
	t->syscall_retired = 0;
	t->call_place = 0;
	if (dispatch_takes(t, next)) {
		count_call(t, nr);
		return;
	}
	if (nr == SYS_rt_sigreturn) {
		count_call(t, nr);
		r[X86_RCX] = next;
		stream_break(t, next);
		signal_return(t);
		return;
	}
	if (nr == SYS_exit || nr == SYS_exit_group || nr == SYS_execve || nr == SYS_execveat)
		count_call(t, nr); /* they may not come back */
	own_record_before(t, nr);
	called_from(t, nr);
	stream_call(t, call_only_waits(t, nr));
	written_begin(t, nr);
	long result = one_call(t, nr, next);
	written_end(t);
	files_look();
	if (result == ABORTED) {
		if (nr == SYS_execve || nr == SYS_execveat)
			t->record->syscalls[nr]--;
		if (t->syscall_retired) {
			count_call(t, nr);
			r[X86_RCX] = next;
			r[X86_R11] = t->flags;
			return;
		}
		lock();
		record_correct(t, t->call_block, t->call_done);
		stream_undo(t, t->call_block, t->call_done);
		unlock();
		return;
	}
	if (nr != SYS_execve && nr != SYS_execveat && !t->forked) /* a fork is its parent's call */
		count_call(t, nr);
	t->forked = 0;
	r[X86_RAX] = (uint64_t)result;
	r[X86_RCX] = next;
	r[X86_R11] = t->flags;
	t->pc = next;
}

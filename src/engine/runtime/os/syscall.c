/*
 * System calls. Most are passed on as they are; those here change what the engine must know, or would let the
 * program out of it.
 *
 * What always holds: a call that a signal prevents has not happened: the program goes on at its `syscall`, which
 * then is not counted; a call that the kernel itself rewinds has been executed and is counted again when it is
 * repeated.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
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

static long pass_on(struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg,
		       args[6] = {r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10], r[X86_R8], r[X86_R9]};
	return runtime_app_syscall((long)nr, args);
}

/* A call that may wait, with rt.lock free: the record may go on in another part meanwhile. */
static long pass_on_unlocked(struct thread *t, uint64_t nr)
{
	enum signals_shown shown = signals_show(t, nr);
	if (shown == SIGNALS_CAME)
		return ABORTED;
	call_begin(t, nr);
	long result = pass_on(t, nr);
	/* woken for a signal that another thread, which blocks it too, took away: hand_on() brings it back */
	while (result == -EINTR_ && shown == SIGNALS_SHOWN && nr == SYS_rt_sigtimedwait &&
	       !(t->attention & ATTENTION_SIGNAL))
		result = pass_on(t, nr);
	call_end(t);
	if (shown == SIGNALS_SHOWN) {
		signals_hide(t);
		signals_as_sent(t, nr, result);
	}
	return result;
}

/* Whether the file says that it has restartable sequences: a section named __rseq_cs. One that cannot be read may
 * have. */
static bool has_rseq_sections(long fd)
{
	static char names[16384];
	struct {
		uint8_t ident[16];
		uint16_t type, machine;
		uint32_t version;
		uint64_t entry, phoff, shoff;
		uint32_t flags;
		uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
	} elf;
	struct {
		uint32_t name, type;
		uint64_t flags, addr, offset, size;
		uint32_t link, info;
		uint64_t align, entsize;
	} section;
	bool result = false;
	long header = failed(fd) ? fd : sys4(SYS_pread64, fd, &elf, sizeof elf, 0);
	if (failed(header))
		return true;
	if (header == (long)sizeof elf && !memcmp(elf.ident, "\177ELF", 4)) {
		if (elf.shoff && elf.shstrndx &&
		    sys4(SYS_pread64, fd, &section, sizeof section,
			 elf.shoff + (uint64_t)elf.shstrndx * sizeof section) == (long)sizeof section) {
			long n = sys4(SYS_pread64, fd, names,
				      section.size < sizeof names ? section.size : sizeof names, section.offset);
			for (long i = 0; i + 9 < n; i++)
				if (!memcmp(names + i, "__rseq_cs", 9))
					result = true;
		}
	}
	return result;
}

static bool program_has_rseq_sections(void)
{
	long fd = sys3(SYS_open, "/proc/self/exe", 02000000, 0);
	bool result = has_rseq_sections(fd);
	if (!failed(fd))
		sys1(SYS_close, fd);
	return result;
}

/*
 * A library with such sections. The kernel would end one that it interrupts; here it sees an address of the cache,
 * takes the section for left and forgets it, perhaps before rseq_watch() looks.
 */
void rseq_library(long fd)
{
	if (rt.rseq_sections == 2 || rt.calls_denied || fd < 0 || !has_rseq_sections(fd))
		return;
	rt.rseq_sections = 2;
	if (rt.rseq_given)
		inexact("a library uses restartable sequences, which do not restart under the engine");
}

/*
 * glibc registers an area and reads the processor's number from it, which works as it is. A critical section does
 * not: the kernel compares rip with the program's addresses. A program that says to have some is answered as by an
 * older kernel.
 */
static long rseq(struct thread *t, uint64_t nr)
{
	uint64_t area = t->reg[X86_RDI];
	if (!rt.rseq_sections)
		rt.rseq_sections = program_has_rseq_sections() ? 2 : 1;
	/* once it has one thread's area, a libc ends the program if it does not get the next one's */
	if (rt.rseq_sections == 2 && !rt.rseq_given)
		return -ENOSYS_;
	long result = pass_on(t, nr);
	if (result == 0) {
		t->rseq = t->reg[X86_RDX] & 1 ? 0 : area;
		rt.rseq_given = 1;
	}
	return result;
}

static void rseq_watch(struct thread *t)
{
	uint64_t section = 0;
	if (t->rseq && safe_copy(&section, (const void *)(t->rseq + 8), 8) && section)
		inexact("the program uses restartable sequences, which do not restart under the engine");
}

/* The attendant is to look at process->ask. */
void request(struct record_process *process)
{
	struct record_session *s = rt.session;
	uint32_t ticket = __atomic_fetch_add(&s->requests, 1, __ATOMIC_ACQ_REL);
	uint32_t index = (uint32_t)(process - (struct record_process *)((uint8_t *)s + RECORD_PROCESSES_OFFSET));
	__atomic_store_n(&s->queue[ticket % RECORD_QUEUE], index + 1, __ATOMIC_RELEASE);
	sys3(SYS_futex, &s->requests, 1, 0x7fffffff); /* FUTEX_WAKE, shared */
}

/* The attendant is asked to follow this thread through the execve; see wire/record.h. */
static bool ask_to_follow(struct thread *t)
{
	struct record_session *s = rt.session;
	struct record_process *process = t->process;
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	uint32_t attendant = __atomic_load_n(&s->attendant_pid, __ATOMIC_ACQUIRE);
	if (!attendant || !attendant_lives()) {
		if (attendant)
			inexact_process(process, "what followed the programs that it execs has ended");
		return false;
	}
	sys2(SYS_prctl, 0x59616d61, attendant); /* PR_SET_PTRACER */
	process->ask_tid = (uint32_t)sys0(SYS_gettid);
	__atomic_store_n(&process->ask, RECORD_ASK_EXEC, __ATOMIC_RELEASE);
	request(process);
	for (;;) {
		uint32_t answer = __atomic_load_n(&process->ask, __ATOMIC_ACQUIRE);
		if (answer == RECORD_ASK_GRANTED || answer == RECORD_ASK_REFUSED)
			return true;
		if (!attendant_lives()) {
			inexact_process(process, "what followed the programs that it execs has ended");
			return false;
		}
		sys4(SYS_futex, &process->ask, 0, answer, &wait);
	}
}

static long execute(struct thread *t, uint64_t nr)
{
	uint64_t all = ~0ull;
	bool own = t->process == rt.process;
	if (t->attention & ATTENTION_SIGNAL)
		return ABORTED;
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, 0, MASK_BYTES);
	lock();
	if (own && rt.live_threads > 1) { /* the others end in the execve: their blocks must be whole */
		cache_unlink_all();
		if (!world_stop(t, false))
			inexact("a thread could not be stopped before an execve");
	}
	stream_end(t);
	regions_end(t);
	if (!own) { /* a vfork's child: its blocks are its parent's */
		process_inherits(t->process);
		unlock();
	}
	if (rt.served)
		served_exec(t->process);
	bool asked = !t->changed && ask_to_follow(t);
	if (t->changed)
		inexact_process(t->process, "what it executed runs natively, not counted: in its parent's memory "
					    "it changed its user, group, capabilities, root or namespaces");
	/* the mask and the ignored signals that the next program inherits are the program's */
	for (int s = 1; s < SIGNALS; s++)
		if ((SYNCHRONOUS_MASK >> (s - 1) & 1) && t->actions[s].handler == 1 && own)
			signal_ignore_in_kernel(s);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &t->mask, 0, MASK_BYTES);
	signal_requeue_held(t);
	long result = pass_on(t, nr);
	/* it failed, or a signal came first */
	signal_set_mask(t, t->mask);
	if (asked)
		__atomic_store_n(&t->process->ask, RECORD_ASK_NONE, __ATOMIC_RELEASE);
	if (own) {
		signals_start(t);
		unlock();
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

/*
 * Syscall user dispatch (Documentation/admin-guide/syscall-user-dispatch.rst): the kernel would compare addresses
 * of the engine's. So it is not told, and what it would do is done here.
 */
enum { PR_SYSCALL_USER_DISPATCH = 59, DISPATCH_ALLOW = 0, DISPATCH_BLOCK = 1, SYS_USER_DISPATCH = 2 };

static long set_dispatch(struct thread *t)
{
	uint64_t mode = t->reg[X86_RSI], from = t->reg[X86_RDX], bytes = t->reg[X86_R10],
		 selector = t->reg[X86_R8];
	if (mode > 1 || (mode == 0 && (from || bytes || selector)))
		return -EINVAL_;
	if (mode == 1 && from && from + bytes <= from)
		return -EINVAL_;
	if (mode == 1 && selector >= 0x7ffffffff000ull)
		return -EFAULT_;
	t->dispatched = (uint32_t)mode;
	t->dispatch_from = from, t->dispatch_bytes = bytes, t->dispatch_selector = selector;
	return 0;
}

/* The call is not to be made: a signal is on its way, or ends the process. */
static bool dispatched_away(struct thread *t, uint64_t next)
{
	uint8_t selector = DISPATCH_BLOCK;
	if (!t->dispatched || next - t->dispatch_from < t->dispatch_bytes)
		return false;
	if (t->dispatch_selector && !safe_copy(&selector, (const void *)t->dispatch_selector, 1))
		signal_end(t, SIGSEGV_);
	if (selector == DISPATCH_ALLOW)
		return false;
	if (selector != DISPATCH_BLOCK || (t->mask >> (SIGSYS_ - 1) & 1) || t->actions[SIGSYS_].handler == 1)
		signal_end(t, SIGSYS_);
	t->pc = next;
	t->reg[X86_RCX] = next;
	t->reg[X86_R11] = t->flags;
	signal_force(t, SIGSYS_, SYS_USER_DISPATCH, next);
	if (t->pending_count) {
		struct siginfo *info = &t->pending[t->pending_count - 1];
		info->field[1] = (uint32_t)t->reg[X86_RAX] | 0xc000003eull << 32; /* AUDIT_ARCH_X86_64 */
		t->pending_trapno[t->pending_count - 1] = t->pending_cr2[t->pending_count - 1] = 0;
	}
	return true;
}

static long prctl(struct thread *t, uint64_t nr)
{
	if ((uint32_t)t->reg[X86_RDI] == PR_SYSCALL_USER_DISPATCH)
		return set_dispatch(t);
	long result;
	if (filter_call(t, nr, &result))
		return result;
	if ((uint32_t)t->reg[X86_RDI] == 26) /* PR_SET_TSC */
		rt.no_tsc = 1;
	return pass_on(t, nr);
}

static long arch(struct thread *t, uint64_t nr)
{
	uint64_t code = t->reg[X86_RDI], value = t->reg[X86_RSI];
	if (code == 0x1001) { /* ARCH_SET_GS */
		if (value >= 0x7ffffffff000ull)
			return -1;
		t->app_gs = value;
		return 0;
	}
	if (code == 0x1004) /* ARCH_GET_GS */
		return safe_copy((void *)value, &t->app_gs, 8) ? 0 : -EFAULT_;
	if (code == 0x5001) /* ARCH_SHSTK_ENABLE: a shadow stack would see the cache's returns */
		return -95;
	long result = pass_on(t, nr);
	if (code == 0x1002) /* ARCH_SET_FS */
		stream_fs_changed(t);
	return result;
}

/* Another process, if it is one of this record, has its memory written to by this one. */
static void poked(uint32_t pid, const char *why)
{
	struct record_process *all = (struct record_process *)((uint8_t *)rt.session + RECORD_PROCESSES_OFFSET);
	uint32_t count = __atomic_load_n(&rt.session->process_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count && i < RECORD_PROCESSES_MAX; i++)
		if (all[i].pid == pid && all[i].state == RECORD_RUNNING)
			inexact_process(&all[i], why);
}

static void opened_file(long fd, uint64_t flags)
{
	uint32_t pid = file_memory_of(fd, flags);
	file_opened_how(fd, flags);
	own_status_opened(fd);
	if (!pid)
		return;
	if (pid != (uint32_t)sys0(SYS_getpid))
		poked(pid, "another process could write to its memory by /proc, perhaps into its code");
	lock(); /* also then: in a namespace of its own it may be called otherwise there */
	memory_foreign();
	rt.foreign_writes |= 2;
	unlock();
}

static long plain_call(struct thread *t, uint64_t nr, uint64_t next)
{
	uint64_t *r = t->reg;
	switch (nr) {
	case SYS_rt_sigaction: return signal_action(t, r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10]);
	case SYS_rt_sigprocmask: return signal_mask(t, r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10]);
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
	case SYS_mseal: return mapping_call(t, nr);
	case SYS_brk: return heap_call(t);
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		if (t->attention & ATTENTION_SIGNAL)
			return ABORTED;
		return thread_clone(t, nr, next);
	case SYS_execve:
	case SYS_execveat: return execute(t, nr);
	case SYS_exit: thread_exit(t, r[X86_RDI]); break;
	case SYS_exit_group: process_exit(t, r[X86_RDI]); break;
	case SYS_rseq: return rseq(t, nr);
	case SYS_arch_prctl: return arch(t, nr);
	case SYS_prctl: return prctl(t, nr);
	case SYS_io_uring_setup: /* the kernel may write code whenever it likes */
		lock();
		memory_foreign();
		inline_careful();
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
	case SYS_creat:
	case SYS_memfd_create: {
		long result = pass_on_unlocked(t, nr);
		file_opened(result);
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
		if (rt.foreign_writes & 2) { /* perhaps to /proc/self/mem */
			long result = pass_on_unlocked(t, nr);
			lock();
			cache_drop_range(0x10000, 0x800000000000ull);
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
		if ((uint32_t)r[X86_RDI] != (uint32_t)sys0(SYS_getpid)) {
			long written = pass_on_unlocked(t, nr);
			if (written == -EFAULT_) /* its engine may protect what natively could be written */
				poked((uint32_t)r[X86_RDI],
				      "another process could not write into its memory, perhaps its code");
			return written;
		}
		written_everything(t);
		written_open(t);
		long result = pass_on_unlocked(t, nr);
		lock();
		cache_drop_range(0x10000, 0x800000000000ull);
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

/* The `syscall` whose next instruction is `next`: on return t->pc says where the program goes on. */
void system_call(struct thread *t, uint32_t block, uint64_t next)
{
	uint64_t *r = t->reg, nr = r[X86_RAX];
	rseq_watch(t);
	inline_unseen();
	t->pc = next - 2;
	t->call_block = block;
	t->call_done = rt.blocks[block].insns - 1u;
	t->syscall_retired = 0;
	if (dispatched_away(t, next)) {
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
	stream_call(t);
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

/* int $0x80 from 64-bit code: only calls that change nothing the engine must know. Numbers are i386's. */
void system_call_32(struct thread *t, uint32_t block, uint64_t next)
{
	enum { /* asm/unistd_32.h */
	       I386_exit = 1,
	       I386_fork = 2,
	       I386_read = 3,
	       I386_write = 4,
	       I386_open = 5,
	       I386_close = 6,
	       I386_time = 13,
	       I386_lseek = 19,
	       I386_getpid = 20,
	       I386_getuid = 24,
	       I386_alarm = 27,
	       I386_pause = 29,
	       I386_times = 43,
	       I386_getgid = 47,
	       I386_geteuid = 49,
	       I386_getegid = 50,
	       I386_getppid = 64,
	       I386_gettimeofday = 78,
	       I386_uname = 122,
	       I386_readv = 145,
	       I386_writev = 146,
	       I386_getuid32 = 199,
	       I386_getgid32 = 200,
	       I386_geteuid32 = 201,
	       I386_getegid32 = 202,
	       I386_gettid = 224,
	       I386_exit_group = 252,
	       I386_clock_gettime = 265,
	       I386_getrandom = 355,
	       I386_CALLS = 470, /* behind the last that there is */
	};
	static const uint16_t harmless[] = {
		I386_exit,      I386_read,     I386_write,      I386_open,          I386_close,     I386_time,
		I386_lseek,     I386_getpid,   I386_getuid,     I386_alarm,         I386_pause,     I386_getgid,
		I386_geteuid,   I386_getegid,  I386_getppid,    I386_writev,        I386_readv,     I386_gettid,
		I386_getuid32,  I386_getgid32, I386_times,      I386_clock_gettime, I386_getrandom, I386_geteuid32,
		I386_getegid32, I386_uname,    I386_exit_group, I386_gettimeofday};
	uint64_t nr = (uint32_t)t->reg[X86_RAX];
	bool known = false;
	(void)block;
	for (unsigned i = 0; i < sizeof harmless / sizeof *harmless; i++)
		known |= harmless[i] == nr;
	t->record->syscalls_32++;
	inline_unseen();
	t->call_block = NONE;
	if (nr == I386_exit)
		thread_exit(t, t->reg[X86_RBX]);
	if (nr == I386_exit_group)
		process_exit(t, t->reg[X86_RBX]);
	if (nr == I386_fork) {
		uint64_t none[6] = {0};
		t->reg[X86_RAX] = (uint64_t)thread_fork(t, SYS_fork, none);
		t->forked = 0;
		t->reg[X86_R8] = t->reg[X86_R9] = t->reg[X86_R10] = t->reg[X86_R11] = 0;
		t->pc = next;
		return;
	}
	if (!known && nr < I386_CALLS)
		die("a system call by int 0x80 that the engine does not support", next - 2);
	/* the kernel keeps all registers but rax, and clears r8 to r11 */
	call_begin(t, 0xfffffffeu);
	written_begin(t, ~0ull); /* i386's calls have no table */
	t->reg[X86_RAX] = (uint64_t)runtime_app_int80(t->reg);
	written_end(t);
	call_end(t);
	t->reg[X86_R8] = t->reg[X86_R9] = t->reg[X86_R10] = t->reg[X86_R11] = 0;
	t->pc = next;
}

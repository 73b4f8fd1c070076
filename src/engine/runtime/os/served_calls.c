/*
 * What the program sees of the machine, where tare chooses it: system calls. A call is made as ever, so that its
 * errors, its waiting and the program's seccomp filters are the kernel's; then what it gave is written over.
 *
 *     getrandom, reads of /dev/random and /dev/urandom     served random numbers (os/served.c, os/served_read.c)
 *     clocks, times, getrusage                             the served clock (below)
 *     uname, sysinfo, sched_getaffinity, getcpu            a machine of one processor and 4 GiB, "localhost"
 *     entries of directories                               in the order of names (os/served_directory.c)
 *     places of memory                                     chosen (os/served_places.c)
 *     what stat says beside the file itself                chosen (os/served_attributes.c)
 *     some files of /proc and /sys                         written anew (os/served_files.c)
 *     rseq, pkey_alloc                                     refused, as by a kernel or processor that has none
 *
 * The clock begins at REAL_BEGINS, or for clocks that do not tell the date at UP_BEGINS, and goes on
 *
 *     by a microsecond each time that it is read, in any way
 *     by what the program asked to wait for, when a wait has run out
 *     to the real time, when the program has read it READ_OFTEN times and it is LAG_MOST_NS late: what works until
 *     some time has passed would not end. The counts then depend on time; repetitions that differ
 *     name it.
 *
 * What always holds:
 *  1. A wait until a moment (futex, clock_nanosleep, timers, message queues) is a moment of the served clock: the
 *     kernel is told the same distance from its own.
 *  2. Process and thread ids are the kernel's: translated ones would be wrong somewhere (futex words, /proc,
 *     SCM_CREDENTIALS). One alone is translated: the first program's parent, which is not the program's; shells
 *     ask for it when they begin.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

enum { /* asm/unistd_64.h */
       NR_select = 23,
       NR_uname = 63,
       NR_getdents = 78,
       NR_gettimeofday = 96,
       NR_getrusage = 98,
       NR_sysinfo = 99,
       NR_times = 100,
       NR_getuid = 102,
       NR_getgid = 104,
       NR_geteuid = 107,
       NR_getegid = 108,
       NR_getpgrp = 111,
       NR_getgroups = 115,
       NR_getpgid = 121,
       NR_getsid = 124,
       NR_statfs = 137,
       NR_fstatfs = 138,
       NR_time = 201,
       NR_sched_setaffinity = 203,
       NR_sched_getaffinity = 204,
       NR_getdents64 = 217,
       NR_timer_create = 222,
       NR_timer_settime = 223,
       NR_clock_gettime = 228,
       NR_clock_getres = 229,
       NR_mq_timedsend = 242,
       NR_mq_timedreceive = 243,
       NR_timerfd_create = 283,
       NR_timerfd_settime = 286,
       NR_preadv = 295,
       NR_getcpu = 309,
       NR_getrandom = 318,
       NR_pidfd_open = 434,
       NR_futex_wait = 455
};
enum {
	CLOCK_REALTIME_ = 0,
	CLOCK_MONOTONIC_ = 1,
	CLOCK_REALTIME_COARSE_ = 5,
	CLOCK_MONOTONIC_COARSE_ = 6,
	CLOCK_BOOTTIME_ = 7,
	CLOCK_REALTIME_ALARM_ = 8,
	CLOCK_BOOTTIME_ALARM_ = 9,
	CLOCK_TAI_ = 11
};
enum { ETIMEDOUT_ = 110, ENOSPC_ = 28 };

#define SECOND_NS 1000000000ull
#define REAL_BEGINS (2000000000ull * SECOND_NS) /* 2033-05-18 03:33:20 UTC: no file is from later */
#define UP_BEGINS (1000ull * SECOND_NS)
#define STEP_NS 1000u
#define READ_OFTEN 1000u
#define LAG_MOST_NS (10 * SECOND_NS)
#define LOOK_EVERY 64u
#define TICK_NS 10000000ull /* of times(2) */

struct timespec {
	uint64_t seconds, ns;
};

/* ---- the clock ---- */

static uint64_t real_ns(uint64_t clock)
{
	struct timespec now = {0, 0};
	sys2(NR_clock_gettime, clock, &now);
	return now.seconds * SECOND_NS + now.ns;
}

static void clock_at_least(uint64_t ns)
{
	uint64_t now = __atomic_load_n(&rt.clock_ns, __ATOMIC_RELAXED);
	while (now < ns &&
	       !__atomic_compare_exchange_n(&rt.clock_ns, &now, ns, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

static void clock_on(uint64_t ns) { __atomic_add_fetch(&rt.clock_ns, ns, __ATOMIC_RELAXED); }

uint64_t served_clock_ns(void)
{
	uint32_t reads = __atomic_add_fetch(&rt.clock_reads, 1, __ATOMIC_RELAXED);
	if (!rt.clock_began)
		rt.clock_began = real_ns(CLOCK_MONOTONIC_) - rt.clock_ns;
	else if (reads > READ_OFTEN && reads % LOOK_EVERY == 0) {
		uint64_t real = real_ns(CLOCK_MONOTONIC_) - rt.clock_began;
		if (real > rt.clock_ns + LAG_MOST_NS) {
			clock_at_least(real);
			served_saw(RECORD_SAW_LATE, 0);
		}
	}
	served_saw(RECORD_SAW_CLOCK, 0);
	return __atomic_add_fetch(&rt.clock_ns, STEP_NS, __ATOMIC_RELAXED);
}

/* What a clock of the kernel's shows when the served one stands at 0. */
static uint64_t beginning(uint64_t clock)
{
	switch ((uint32_t)clock) {
	case CLOCK_REALTIME_:
	case CLOCK_REALTIME_COARSE_:
	case CLOCK_REALTIME_ALARM_:
	case CLOCK_TAI_: return REAL_BEGINS;
	case CLOCK_MONOTONIC_:
	case 4: /* CLOCK_MONOTONIC_RAW */
	case CLOCK_MONOTONIC_COARSE_:
	case CLOCK_BOOTTIME_:
	case CLOCK_BOOTTIME_ALARM_: return UP_BEGINS;
	default: return 0; /* of a process's or thread's work */
	}
}

static struct timespec shown(uint64_t clock)
{
	uint64_t ns = beginning(clock) + served_clock_ns();
	return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static bool give(uint64_t to, const void *from, uint64_t bytes)
{
	return !to || safe_copy((void *)to, from, bytes);
}

/* In place of two struct timeval and fourteen longs: all work is at user level, and nothing else is known. */
static void give_usage(uint64_t to)
{
	uint64_t ns = __atomic_load_n(&rt.clock_ns, __ATOMIC_RELAXED),
		 usage[18] = {ns / SECOND_NS, ns % SECOND_NS / 1000};
	give(to, usage, sizeof usage);
}

/* ---- waits ---- */

/* Which clock a timer of either kind goes by. */
#define TIMERS 64u
static struct {
	uint64_t id;
	uint32_t clock, used;
} timers[TIMERS];

static void timer_made(uint64_t id, uint64_t clock)
{
	for (unsigned i = 0; i < TIMERS; i++)
		if (!timers[i].used || timers[i].id == id) {
			timers[i].id = id, timers[i].clock = (uint32_t)clock, timers[i].used = 1;
			return;
		}
}

static uint64_t clock_of_timer(uint64_t id)
{
	for (unsigned i = 0; i < TIMERS; i++)
		if (timers[i].used && timers[i].id == id)
			return timers[i].clock;
	return CLOCK_MONOTONIC_;
}
#define TIMER_IDS (1ull << 32) /* of timer_create, beside descriptors */

struct wait {
	unsigned reg;    /* that points to the time */
	uint64_t clock;  /* it is a moment of */
	unsigned before; /* bytes in front of it */
	bool is;
};

static struct wait wait_until(const struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	uint64_t operation = r[X86_RSI] & FUTEX_COMMANDS_;
	enum {
		FUTEX_LOCK_PI = 6,
		FUTEX_WAIT_REQUEUE_PI = 11,
		FUTEX_LOCK_PI2 = 13,
		FUTEX_CLOCK_REALTIME = 256,
		ABSOLUTE = 1
	};
	switch (nr) {
	case SYS_futex:
		if (operation == FUTEX_LOCK_PI)
			return (struct wait){X86_R10, CLOCK_REALTIME_, 0, true};
		if (operation == FUTEX_WAIT_BITSET_ || operation == FUTEX_WAIT_REQUEUE_PI ||
		    operation == FUTEX_LOCK_PI2)
			return (struct wait){
				X86_R10, r[X86_RSI] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME_ : CLOCK_MONOTONIC_, 0,
				true};
		break;
	case SYS_futex_waitv: return (struct wait){X86_R10, r[X86_R8], 0, true};
	case NR_futex_wait: return (struct wait){X86_R8, r[X86_R9], 0, true};
	case NR_mq_timedsend:
	case NR_mq_timedreceive: return (struct wait){X86_R8, CLOCK_REALTIME_, 0, true};
	case SYS_clock_nanosleep:
		if (r[X86_RSI] & ABSOLUTE)
			return (struct wait){X86_RDX, r[X86_RDI], 0, true};
		break;
	case NR_timerfd_settime:
		if (r[X86_RSI] & ABSOLUTE)
			return (struct wait){X86_RDX, clock_of_timer(r[X86_RDI]), 16, true};
		break;
	case NR_timer_settime:
		if (r[X86_RSI] & ABSOLUTE)
			return (struct wait){X86_RDX, clock_of_timer(TIMER_IDS | r[X86_RDI]), 16, true};
		break;
	}
	return (struct wait){.is = false};
}

/* The same distance from now, of the kernel's clock. */
static struct timespec kernels_moment(const struct timespec *asked, uint64_t clock)
{
	uint64_t now = beginning(clock) + __atomic_load_n(&rt.clock_ns, __ATOMIC_RELAXED), real = real_ns(clock);
	if (asked->seconds >= 1ull << 33) /* so far away that it is never */
		return *asked;
	uint64_t moment = asked->seconds * SECOND_NS + asked->ns,
		 ns = moment > now ? real + (moment - now) : real - (now - moment > real ? real : now - moment);
	return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static long call_until(struct thread *t, uint64_t nr, uint64_t next, const struct wait *w, served_call_maker *make)
{
	uint64_t at = t->reg[w->reg];
	struct timespec copy[2], *moment = &copy[w->before / 16];
	if (!at || !safe_copy(copy, (const void *)at, w->before + 16))
		return make(t, nr, next);
	if (w->before && !moment->seconds && !moment->ns) /* disarms */
		return make(t, nr, next);
	struct timespec asked = *moment;
	if (asked.ns < SECOND_NS && !(asked.seconds >> 63))
		*moment = kernels_moment(&asked, w->clock);
	t->reg[w->reg] = (uint64_t)copy;
	long result = make(t, nr, next);
	t->reg[w->reg] = at;
	bool passed = result == -ETIMEDOUT_ || (nr == SYS_clock_nanosleep && result == 0);
	if (passed && asked.seconds * SECOND_NS + asked.ns > beginning(w->clock))
		clock_at_least(asked.seconds * SECOND_NS + asked.ns - beginning(w->clock));
	return result;
}

static uint64_t timespec_ns(uint64_t at, uint64_t unit)
{
	struct timespec wait = {0, 0};
	if (!at || !safe_copy(&wait, (const void *)at, sizeof wait) || wait.seconds >> 32)
		return 0;
	return wait.seconds * SECOND_NS + wait.ns * unit;
}

/* How long a wait was that has run out; 0: none has. Times that the kernel writes over are read before. */
static uint64_t wait_asked(const struct thread *t, uint64_t nr)
{
	const uint64_t *r = t->reg;
	switch (nr) {
	case SYS_nanosleep: return timespec_ns(r[X86_RDI], 1);
	case SYS_clock_nanosleep: return timespec_ns(r[X86_RDX], 1);
	case SYS_poll: return (int32_t)r[X86_RDX] > 0 ? (uint64_t)(uint32_t)r[X86_RDX] * 1000000 : 0;
	case SYS_epoll_wait:
	case SYS_epoll_pwait: return (int32_t)r[X86_R10] > 0 ? (uint64_t)(uint32_t)r[X86_R10] * 1000000 : 0;
	case NR_select: return timespec_ns(r[X86_R8], 1000);
	case SYS_pselect6: return timespec_ns(r[X86_R8], 1);
	case SYS_ppoll: return timespec_ns(r[X86_RDX], 1);
	case SYS_epoll_pwait2: return timespec_ns(r[X86_R10], 1);
	case SYS_rt_sigtimedwait: return timespec_ns(r[X86_RDX], 1);
	case SYS_futex: return (r[X86_RSI] & FUTEX_COMMANDS_) == FUTEX_WAIT_ ? timespec_ns(r[X86_R10], 1) : 0;
	default: return 0;
	}
}

static bool ran_out(uint64_t nr, long result)
{
	if (nr == SYS_futex)
		return result == -ETIMEDOUT_;
	if (nr == SYS_rt_sigtimedwait)
		return result == -EAGAIN_;
	return result == 0;
}

/* ---- the machine ---- */

static void give_uname(uint64_t to)
{
	static const char names[6][65] = {"Linux",  "localhost", "6.1.0", "#1 SMP PREEMPT_DYNAMIC",
					  "x86_64", "(none)"};
	give(to, names, sizeof names);
}

static void give_sysinfo(uint64_t to)
{
	const uint64_t gib = 1ull << 30;
	struct {
		uint64_t uptime, loads[3], total, free, shared, buffers, swap, free_swap;
		uint16_t processes, pad[3];
		uint64_t total_high, free_high;
		uint32_t unit, pad2;
	} info = {.uptime = (UP_BEGINS + rt.clock_ns) / SECOND_NS,
		  .total = 4 * gib,
		  .free = 2 * gib,
		  .processes = 100,
		  .unit = 1};
	_Static_assert(sizeof info == 112, "the kernel's layout");
	give(to, &info, sizeof info);
}

/* One processor, number 0: the one that the program is bound to. */
static long affinity(struct thread *t, uint64_t nr, long result)
{
	uint64_t mask[2] = {0, 0}, *r = t->reg;
	if (nr == NR_sched_getaffinity) {
		mask[0] = 1;
		return give(r[X86_RDX], mask, 8) ? 8 : result;
	}
	return result;
}

/* Only processor 0 is there to be chosen, and it is what the program runs on already. */
static bool set_affinity(const struct thread *t, long *result)
{
	uint64_t mask = 0, bytes = t->reg[X86_RSI] < 8 ? t->reg[X86_RSI] : 8;
	if (!safe_copy(&mask, (const void *)t->reg[X86_RDX], bytes))
		*result = -EFAULT_;
	else
		*result = mask & 1 ? 0 : -EINVAL_;
	return true;
}

/* ---- all together ---- */

static void give_time(struct thread *t, uint64_t nr, long *result)
{
	const uint64_t *r = t->reg;
	struct timespec now, none[2] = {{0, 1}, {0, 0}};
	switch (nr) {
	case NR_clock_gettime:
		now = shown(r[X86_RDI]);
		give(r[X86_RSI], &now, sizeof now);
		return;
	case NR_clock_getres: give(r[X86_RSI], none, 16); return;
	case NR_gettimeofday:
		now = shown(CLOCK_REALTIME_);
		now.ns /= 1000;
		give(r[X86_RDI], &now, sizeof now);
		give(r[X86_RSI], &none[1], 8); /* no time zone */
		return;
	case NR_time:
		now = shown(CLOCK_REALTIME_);
		give(r[X86_RDI], &now.seconds, 8);
		*result = (long)now.seconds;
		return;
	case NR_times: {
		uint64_t ns = served_clock_ns(), work[4] = {ns / TICK_NS};
		give(r[X86_RDI], work, sizeof work);
		*result = (long)((UP_BEGINS + ns) / TICK_NS);
		return;
	}
	}
}

/* What is neither served nor in what was read. */
static void look(struct thread *t, uint64_t nr, long result)
{
	const uint64_t *r = t->reg;
	switch (nr) {
	case NR_getuid:
	case NR_getgid:
	case NR_geteuid:
	case NR_getegid:
	case NR_getgroups: served_saw(RECORD_SAW_USER, (uint64_t)result); break;
	case SYS_getrlimit: served_look_at_bytes(RECORD_SAW_LIMITS, r[X86_RSI], 16); break;
	case SYS_prlimit64:
		if (r[X86_R10])
			served_look_at_bytes(RECORD_SAW_LIMITS, r[X86_R10], 16);
		break;
	case NR_statfs:
	case NR_fstatfs: served_look_at_bytes(RECORD_SAW_SPACE, r[X86_RSI], 120); break;
	default: served_attributes(t, nr);
	}
}

static long served(struct thread *t, uint64_t nr, long result)
{
	const uint64_t *r = t->reg;
	uint32_t zero[2] = {0, 0};
	switch (nr) {
	case NR_clock_gettime:
	case NR_clock_getres:
	case NR_gettimeofday:
	case NR_time:
	case NR_times: give_time(t, nr, &result); break;
	case NR_getrusage: give_usage(r[X86_RSI]); break;
	case SYS_wait4:
		if (result > 0)
			give_usage(r[X86_R10]);
		served_saw(RECORD_SAW_WAITED, 0);
		break;
	case NR_uname: give_uname(r[X86_RDI]); break;
	case NR_sysinfo: give_sysinfo(r[X86_RDI]); break;
	case NR_sched_getaffinity: return affinity(t, nr, result);
	case NR_getcpu:
		give(r[X86_RDI], &zero[0], 4);
		give(r[X86_RSI], &zero[1], 4);
		break;
	case NR_getrandom: served_give_random(r[X86_RDI], (uint64_t)result); break;
	case NR_timerfd_create: timer_made((uint64_t)result, r[X86_RDI]); break;
	case NR_timer_create: {
		uint32_t id = 0;
		if (safe_copy(&id, (const void *)r[X86_RDX], 4))
			timer_made(TIMER_IDS | id, r[X86_RDI]);
		break;
	}
	case SYS_read:
	case SYS_pread64:
	case SYS_readv:
	case NR_preadv: served_was_read(t, nr, (uint64_t)result); break;
	case NR_getdents:
	case NR_getdents64:
		served_entries(r[X86_RSI], (uint64_t)result);
		served_look_at_bytes(RECORD_SAW_DIRECTORY, r[X86_RSI], (uint64_t)result);
		break;
	case SYS_mmap:
	case SYS_mremap:
	case SYS_brk:
	case SYS_shmat: served_saw(RECORD_SAW_ADDRESS, (uint64_t)result); break;
	case SYS_getppid:
		if (result == rt.outer_parent)
			return SERVED_PARENT;
		served_saw(RECORD_SAW_ID, (uint64_t)result);
		break;
	case SYS_getpid:
	case SYS_gettid:
	case NR_getpgrp:
	case NR_getpgid:
	case NR_getsid: served_saw(RECORD_SAW_ID, (uint64_t)result); break;
	default: look(t, nr, result); break;
	}
	return result;
}

/* As prctl does it, from Linux 6.4 on. */
static long give_vector(uint64_t to, uint64_t bytes)
{
	const void *vector;
	uint64_t all = served_vector(&vector);
	return give(to, vector, bytes < all ? bytes : all) ? (long)all : -EFAULT_;
}

/* Calls whose first argument is a process: the first program's parent goes by the id that it is shown. */
static bool names_parent(const struct thread *t, uint64_t nr)
{
	switch (nr) {
	case SYS_kill:
	case NR_getpgid:
	case NR_getsid:
	case NR_pidfd_open: return (uint32_t)t->reg[X86_RDI] == SERVED_PARENT;
	default: return false;
	}
}

static long call_parent(struct thread *t, uint64_t nr, uint64_t next, served_call_maker *make)
{
	uint64_t id = t->reg[X86_RDI];
	t->reg[X86_RDI] = rt.outer_parent;
	long result = make(t, nr, next);
	t->reg[X86_RDI] = id;
	return result;
}

long served_call(struct thread *t, uint64_t nr, uint64_t next, served_call_maker *make)
{
	long result;
	struct wait w = wait_until(t, nr);
	if (w.is)
		return call_until(t, nr, next, &w, make);
	if (nr == NR_sched_setaffinity && set_affinity(t, &result))
		return result;
	if (nr == SYS_rseq)
		return -ENOSYS_;
	if (nr == SYS_pkey_alloc)
		return -ENOSPC_;
	if ((nr == NR_getdents || nr == NR_getdents64) && served_directory(t, nr, &result))
		return result;
	if (nr == SYS_prctl && (uint32_t)t->reg[X86_RDI] == PR_GET_AUXV_)
		return give_vector(t->reg[X86_RSI], t->reg[X86_RDX]);
	if (names_parent(t, nr))
		return call_parent(t, nr, next, make);
	if ((nr == SYS_open || nr == SYS_openat) && served_file(t, nr, &result))
		return result;
	uint64_t wait = wait_asked(t, nr);
	result = make(t, nr, next);
	if (wait && ran_out(nr, result))
		clock_on(wait);
	if (result == ABORTED)
		return result;
	result = served_unsupported(nr, result);
	return failed(result) ? result : served(t, nr, result);
}

/* The page of three functions that the kernel emulates; their arguments are in the same registers. */
long served_vsyscall(struct thread *t, uint64_t nr, long result)
{
	return failed(result) ? result : served(t, nr, result);
}

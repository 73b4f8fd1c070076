/*
 * tare_overflow(): the user's handler, called by a signal in the thread whose counter overflowed.
 *
 *     counter (sampling, of one thread) ──overflow──► signal to that thread ──► on_signal() ──► handler
 *           ▲                                                                        │
 *           └───────────────────────── armed for one overflow ◄──────────────────────┘
 *
 * What always holds:
 *  1. A counter is armed for one overflow (PERF_EVENT_IOC_REFRESH), and armed again when its handler has returned.
 *     So a handler is not interrupted by its own event, its own events are not in a period, a handler that takes
 *     longer than a period does not stop the program, and at most one signal of each counter waits (the kernel
 *     sends a plain SIGIO, which would end the program, where its queue is full: fcntl(2), F_SETSIG).
 *  2. The counter of an overflow is another one than that which is read: readings are as without a handler, and
 *     have the handler's own events in them.
 *     It is pinned: always on the PMU, before all others, so that it misses no period while events take turns. (In
 *     QEMU's arm64 PMU only the register made for cycles overflows in time, and the first counter gets it.)
 *  3. A subscription is a slot of a static table, found by the descriptor that the signal carries (si_fd). A slot
 *     is only used by another subscription when no handler is in it. So a signal that comes late, of a counter
 *     that is closed, finds nothing.
 *  4. The signal is a real-time one that the program had left alone, taken with the first subscription and for
 *     good: the default of such a signal ends the program, and one may still be on its way.
 */
#include "api/overflow.h"

#include "api/counters_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/failure.h"
#include "backend/perf/sample/trial.h"
#include "backend/perf/state.h"

enum { SLOTS = 256 };

struct overflow_slot {
	_Atomic int key;    /* its descriptor + 1; 0: the slot is free */
	_Atomic int inside; /* handlers that are in it */
	const struct tare_counters *set;
	pid_t thread;
	struct tare_overflow of;
	tare_overflow_handler handler;
	void *data;
};

static struct overflow_slot slots[SLOTS];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static int own_signal; /* 0: none is taken yet */

/* ---- the signal ---- */

static const void *place_of(const void *context)
{
	const ucontext_t *at = context;
#if defined(__x86_64__)
	return (const void *)(uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (const void *)(uintptr_t)at->uc_mcontext.pc;
#else
	(void)at;
	return NULL;
#endif
}

static bool arm(int fd) { return ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0; }

/* A pinned counter that found no place is at its end for read(2), and stays off (perf_event_open(2)). */
static bool arm_first(int fd)
{
	uint64_t count;
	if (!arm(fd))
		return false;
	ssize_t got = read(fd, &count, sizeof count);
	if (got == 0)
		errno = EBUSY;
	return got == sizeof count;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int before = errno, fd = info->si_fd;
	(void)number;
	/* what a program sends has a code of 0 or less */
	for (size_t i = 0; i < SLOTS && info->si_code > 0; i++) {
		struct overflow_slot *slot = &slots[i];
		if (atomic_load(&slot->key) != fd + 1)
			continue;
		atomic_fetch_add(&slot->inside, 1);
		if (atomic_load(&slot->key) == fd + 1) {
			struct tare_overflow of = slot->of;
			of.address = place_of(context);
			of.context = context;
			slot->handler(&of, slot->data);
			if (atomic_load(&slot->key) == fd + 1 && slot->set->started)
				arm(fd);
		}
		atomic_fetch_sub(&slot->inside, 1);
	}
	errno = before;
}

/* One that nobody uses, from the last on: programs take the first ones. */
static bool take_signal(struct tare_error *error)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK},
			 is;
	sigemptyset(&action.sa_mask);
	for (int number = SIGRTMAX; !own_signal && number >= SIGRTMIN; number--)
		if (sigaction(number, NULL, &is) == 0 && !(is.sa_flags & SA_SIGINFO) && is.sa_handler == SIG_DFL &&
		    sigaction(number, &action, NULL) == 0)
			own_signal = number;
	return own_signal || api_fail_text(error, TARE_ERROR_BUSY,
					   "the program has handlers for all real-time signals: none is left for "
					   "overflows",
					   "leave one of SIGRTMIN to SIGRTMAX at its default");
}

/* ---- opening ---- */

static int open_overflow(const struct answer *answer, const struct event_encoding *encoding, uint64_t period)
{
	unsigned levels = answer->open_levels;
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = encoding->type,
		.config = encoding->config,
		.config1 = encoding->config1,
		.config2 = encoding->config2,
		.sample_period = period,
		.wakeup_events = 1,
		.pinned = 1,
		.disabled = 1,
		.exclude_user = !(levels & LEVEL_USER),
		.exclude_kernel = !(levels & LEVEL_KERNEL),
		.exclude_hv = levels != (LEVEL_USER | LEVEL_KERNEL),
	};
	return (int)syscall(SYS_perf_event_open, &attr, 0, COUNTER_ANY_CPU, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Overflows of the descriptor become the signal, in this thread. */
static bool direct(int fd)
{
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
	return fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 && fcntl(fd, F_SETSIG, own_signal) == 0 &&
	       fcntl(fd, F_SETOWN_EX, &owner) == 0;
}

static bool refused(const struct tare_counters *c, const struct answer *answer, int os_errno,
		    struct tare_error *error)
{
	struct error inner = {0};
	const struct attempt attempt = {.action = COUNTER_OPEN,
					.event = answer->label,
					.how = answer->how,
					.levels = answer->open_levels,
					.type = answer->encoding.type,
					.task = COUNTER_SELF,
					.cpu = COUNTER_ANY_CPU,
					.counters = c->events.count + 1};
	failure_explain(os_errno, &attempt, machine_state(c->perf), &inner);
	return api_fail(error, &inner);
}

/* Fills a free slot; false: there is none. */
static bool fill_slot(const struct overflow_slot *with, int fd)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct overflow_slot *slot = &slots[i];
		if (atomic_load(&slot->key) != 0 || atomic_load(&slot->inside) != 0)
			continue;
		slot->set = with->set;
		slot->thread = with->thread;
		slot->of = with->of;
		slot->handler = with->handler;
		slot->data = with->data;
		atomic_store(&slot->key, fd + 1);
		return true;
	}
	return false;
}

/* ---- ending ---- */

static void end_slot(struct overflow_slot *slot, bool here)
{
	int fd = atomic_load(&slot->key) - 1;
	/* the child's descriptor is of the parent's counter */
	if (here)
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	atomic_store(&slot->key, 0);
	/* a handler in another thread may still use it; one of this thread is what called */
	while (here && slot->thread != gettid() && atomic_load(&slot->inside))
		sched_yield();
	if (!here)
		atomic_store(&slot->inside, 0);
	close(fd);
}

static void end_slots(const struct tare_counters *c, size_t event, bool all)
{
	bool here = counters_here(c, NULL);
	for (size_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].key) && slots[i].set == c && (all || slots[i].of.event == event))
			end_slot(&slots[i], here);
}

void overflows_end(const struct tare_counters *c) { end_slots(c, 0, true); }

bool overflows_switch(const struct tare_counters *c, bool on)
{
	bool done = true;
	for (size_t i = 0; i < SLOTS; i++) {
		struct overflow_slot *slot = &slots[i];
		int fd = atomic_load(&slot->key) - 1;
		if (fd < 0 || slot->set != c)
			continue;
		/* a handler in another thread may be about to arm it */
		while (!on && slot->thread != gettid() && atomic_load(&slot->inside))
			sched_yield();
		done = (on ? arm_first(fd) : ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) == 0) && done;
	}
	return done;
}

/* ---- asking for it ---- */

static bool check(const struct tare_counters *c, size_t event, uint64_t period, struct tare_error *error)
{
	if (!counters_here(c, error))
		return false;
	if (c->started)
		return api_fail_text(error, TARE_ERROR_USAGE,
				     "a handler of overflows cannot be set while the set is started",
				     "stop it before");
	if (event >= c->events.count)
		return api_fail_text(error, TARE_ERROR_USAGE, "the set has no event of that index", "");
	if (c->scope != TARE_THREAD)
		return api_fail_text(error, TARE_ERROR_USAGE,
				     "overflows interrupt one thread, and the set is of a process",
				     "open a set of scope TARE_THREAD in each thread");
	if (c->thread != gettid())
		return api_fail_text(error, TARE_ERROR_USAGE, "another thread opened the set",
				     "let it set the handler, or open a set in this thread");
	if (period == 0 || period >> 62)
		return api_fail_text(error, TARE_ERROR_USAGE, "the period is 0, or 2^62 or more", "");
	return true;
}

/* By trial: an event may count here, and not overflow. */
static bool overflows(const struct tare_counters *c, const struct event *asked, const struct answer **answer,
		      struct tare_error *error)
{
	enum reading_state state;
	char why[256], remedy[256];
	struct error inner = {0};
	struct event event = *asked;
	*answer = answer_find(c->perf, asked);
	if (!*answer)
		return api_fail_errno(error, TARE_ERROR_NO_MEMORY, ENOMEM, "out of memory");
	event.levels = (*answer)->open_levels;
	sampling_trial(c->perf, &event, answer, &state, why, remedy);
	if (state == READING_COUNTED)
		return true;
	error_set(&inner, state == READING_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED,
		  "'%s' cannot overflow here: %s", asked->label, why);
	error_hint(&inner, "%s", remedy);
	return api_fail(error, &inner);
}

static bool open_slots(struct tare_counters *c, const struct answer *answer, const struct overflow_slot *with,
		       struct tare_error *error)
{
	for (size_t kind = 0; kind < answer->variants.n; kind++) {
		int fd = open_overflow(answer, &answer->variants.items[kind].encoding, with->of.period);
		if (fd < 0)
			return refused(c, answer, errno, error);
		if (!direct(fd)) {
			int reason = errno;
			close(fd);
			return api_fail_errno(error, TARE_ERROR_SYSTEM, reason,
					      "cannot have a signal for each overflow");
		}
		if (!fill_slot(with, fd)) {
			close(fd);
			return api_fail_text(error, TARE_ERROR_LIMIT,
					     "a process has at most 256 counters with a handler of overflows",
					     "close a set that has one");
		}
	}
	return true;
}

COUNTERS_CALL(bool, tare_overflow, counters_overflow, struct tare_counters *c, size_t event, uint64_t period,
	      tare_overflow_handler handler, void *data, struct tare_error *error)
{
	const struct answer *answer;
	if (c->engine)
		return api_fail_text(
			error, TARE_ERROR_UNSUPPORTED, "under tare's engine no handler is called on overflows",
			"run the program without it; 'tare profile --on exact' shows where events are");
	if (!check(c, event, handler ? period : 1, error))
		return false;
	if (handler && !overflows(c, &c->events.items[event].event, &answer, error))
		return false;
	if (handler && sampling_is_clock(&answer->encoding) && period < SAMPLING_CLOCK_LEAST_NS)
		return api_fail_text(error, TARE_ERROR_USAGE,
				     "the period of a clock is less than the kernel's least, 10000 ns", "");
	const struct overflow_slot with = {.set = c,
					   .thread = gettid(),
					   .of = {.event = event, .period = period},
					   .handler = handler,
					   .data = data};
	sigset_t own;
	pthread_mutex_lock(&changing);
	end_slots(c, event, false);
	bool done = !handler || (take_signal(error) && open_slots(c, answer, &with, error));
	if (!done)
		end_slots(c, event, false);
	pthread_mutex_unlock(&changing);
	if (done && handler && sigemptyset(&own) == 0 && sigaddset(&own, own_signal) == 0)
		pthread_sigmask(SIG_UNBLOCK, &own, NULL);
	return done;
}

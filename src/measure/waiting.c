#include "measure/waiting.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "base/process_stat.h"

/* How often attached processes are asked whether they live: their end sends no signal to tare. */
static const uint64_t ALIVE_NS = 10000000u;

static void nothing(int signal) { (void)signal; }

void waiter_open(struct waiter *w, const volatile sig_atomic_t *interrupt, const struct clock *clock)
{
	struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_NOCLDSTOP};
	sigemptyset(&action.sa_mask);
	*w = (struct waiter){.interrupt = interrupt, .clock = clock};
	w->deaf = sigaction(SIGCHLD, &action, &w->old_child_action) != 0;
}

void waiter_close(struct waiter *w)
{
	if (!w->deaf)
		sigaction(SIGCHLD, &w->old_child_action, NULL);
}

bool waiter_interrupted(const struct waiter *w) { return w->interrupt && *w->interrupt != 0; }

/* Ended, and not yet waited for by its parent: a signal still finds it. */
static bool is_zombie(pid_t pid)
{
	char state;
	uint64_t ticks;
	return process_stat(pid, &state, &ticks) && (state == 'Z' || state == 'X');
}

static bool any_alive(const struct target *target)
{
	for (size_t i = 0; i < target->n_pids; i++)
		if ((kill(target->pids[i], 0) == 0 || errno == EPERM) && !is_zombie(target->pids[i]))
			return true;
	return false;
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Tells the child what the user told tare alone; see measure_options.interrupt. */
static void pass_on(const struct wait_for *what, int value)
{
	if (what->process > 0 && value > 0)
		kill(what->process, value);
}

/* The steps of a time-out: SIGTERM, after the grace SIGKILL, after another one the wait is over. *at_ns: when
 * the next one is due; *last: the wait's end. */
static void time_out(const struct wait_for *what, struct waited *out, uint64_t now, uint64_t *at_ns,
		     uint64_t *last)
{
	if (out->timed_out) {
		kill(what->process, SIGKILL);
		*at_ns = UINT64_MAX;
		*last = now + WAIT_GRACE_NS;
		return;
	}
	out->timed_out = true;
	kill(what->process, SIGTERM);
	kill(what->process, SIGCONT);
	*at_ns = now + WAIT_GRACE_NS;
}

void wait_until(struct waiter *w, const struct wait_for *what, struct waited *out)
{
	static const int held[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2};
	bool attached = what->target->kind == TARGET_PROCESSES || what->target->kind == TARGET_THREADS;
	uint64_t begin = clock_now_ns(w->clock), tick_ns = what->tick_ns, next_tick = begin + tick_ns;
	uint64_t last = what->process == 0 && what->delay_ns ? begin + what->delay_ns : UINT64_MAX;
	uint64_t time_out_at = what->process > 0 && what->timeout_ns ? begin + what->timeout_ns : UINT64_MAX;
	sigset_t block, old, sleeping;
	struct pollfd wakes = {.fd = what->wakes ? *what->wakes : -1, .events = POLLIN};
	bool woken = false;

	*out = (struct waited){0};
	sigemptyset(&block);
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		sigaddset(&block, held[i]);
	sigprocmask(SIG_BLOCK, &block, &old);
	sleeping = old;
	sigdelset(&sleeping, SIGCHLD);

	for (;;) {
		if (what->process > 0) {
			pid_t got = wait4(what->process, &out->status, WNOHANG, &out->usage);
			if (got < 0 && errno == EINTR)
				continue;
			out->ended = got == what->process;
			out->lost = got < 0;
			if (out->ended || out->lost)
				break;
		} else if (attached && !any_alive(what->target)) {
			break;
		}
		uint64_t now = clock_now_ns(w->clock);
		if (!out->interrupted && waiter_interrupted(w)) {
			out->interrupted = true;
			if (what->process == 0)
				break;
			pass_on(what, *w->interrupt);
			last = now + WAIT_GRACE_NS;
		}
		if (now >= time_out_at)
			time_out(what, out, now, &time_out_at, &last);
		if (now >= last)
			break;
		if (tick_ns && (woken || now >= next_tick)) {
			what->tick(what->context, now, &tick_ns);
			next_tick = now + tick_ns;
		}
		uint64_t until = earlier(earlier(last, time_out_at), tick_ns ? next_tick : UINT64_MAX);
		if (w->deaf || (attached && what->process == 0))
			until = earlier(until, now + ALIVE_NS);
		struct timespec timeout = {.tv_sec = (time_t)((until - now) / 1000000000u),
					   .tv_nsec = (long)((until - now) % 1000000000u)};
		woken = ppoll(&wakes, what->wakes ? 1 : 0, until == UINT64_MAX ? NULL : &timeout, &sleeping) > 0;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/*
 * One sampling, from its events' opening to the last record.
 *
 *     prepare: hold the program, open everything disabled; of what runs already, read what is there
 *     go:      the program's exec enables its events (enable_on_exec); others are enabled by hand
 *     drain:   a round (round.h): empty all rings, give out what is older than the round before, redraw gaps
 *     stop:    disable, a last round, read what was counted and lost
 */
#include "backend/perf/sample/sampling.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/perf/counter/cancel.h"
#include "backend/perf/counter/cgroup.h"
#include "backend/perf/sample/existing.h"
#include "backend/perf/sample/round.h"
#include "backend/perf/sample/streams.h"
#include "backend/perf/sample/tracks.h"
#include "backend/perf/sample/trial.h"

/* ---- prepare ---- */

static bool read_existing(struct sampling *s, struct error *err)
{
	bool done = true;
	s->existing = calloc(1, sizeof *s->existing);
	if (!s->existing)
		return error_no_memory(err);
	s->existing->time_ns = record_now_ns();
	if (!sample_streams_switch(s, true, true, err))
		return false;
	if (s->kind == TARGET_CPUS)
		done = existing_add_all(s->existing, s->request.data_addresses);
	for (size_t i = 0; done && s->kind != TARGET_CPUS && i < s->targets.list.count; i++)
		done = existing_add(s->existing, s->targets.list.items[i].task, s->request.data_addresses);
	return done || error_no_memory(err);
}

/* A thread that starts while its process's events are opened has inherited all of them, some or none, and nobody
 * can tell: so they are opened again until the threads before and after are the same. */
static bool open_processes(struct sampling *s, const struct target *target, struct error *err)
{
	enum { ATTEMPTS = 100 };
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct counter_targets after;
		struct error own = {0};
		bool opened = sample_streams_open(s, &own);
		if (!opened && own.os_errno != ESRCH) {
			if (err)
				*err = own;
			return false;
		}
		if (!counter_targets_find(&after, target, err))
			return false;
		bool same = counter_targets_same(&s->targets, &after);
		counter_targets_free(&s->targets);
		s->targets = after;
		if (same && opened)
			return true;
		sample_streams_close(s);
		if (same) { /* all are there, and have ended */
			if (err)
				*err = own;
			return false;
		}
	}
	error_set(err, ERROR_BUSY, "cannot sample all threads: they start and end faster than they are found");
	return error_hint(err, "sample the CPUs that they run on (-a), or let tare start the program");
}

static bool set_up(struct sampling *s, const struct target *target, struct error *err)
{
	const char *cancelled = NULL;
	if (target->command) {
		s->command = *target->command;
		char *path = launch_find(&s->command, err);
		if (!path)
			return false;
		if (s->kind == TARGET_COMMAND)
			cancelled = exec_cancels(path);
		free(path);
	}
	if (s->request.stacks == STACKS_DWARF && !record_registers())
		return error_set(err, ERROR_UNSUPPORTED,
				 "cannot read stacks by DWARF on this kind of CPU: use --call-graph fp");
	if (target->own_cgroup && !own_cgroup_make(&s->own, &s->cgroup, err))
		return false;
	if (target->cgroup && (s->cgroup = cgroup_open(target->cgroup, err)) < 0)
		return false;
	if (!sampling_find_tracks(s, cancelled, err) || !sampling_turns_new(s, err))
		return false;
	if (target->command) {
		if (!launch_hold(&s->command, &s->launch, err))
			return false;
		s->pid = s->launch.pid;
		if (target->own_cgroup && !own_cgroup_put(&s->own, s->pid, err))
			return false;
	}
	if (s->kind == TARGET_COMMAND) {
		if (!vec_push(&s->targets.list, ((struct counter_target){s->pid, -1})))
			return error_no_memory(err);
	} else if (!counter_targets_find(&s->targets, target, err)) {
		return false;
	}
	if (s->request.places && !bounds_new(s->request.places, s->kind == TARGET_CPUS, &s->bounds, err))
		return false;
	for (size_t i = 0; s->bounds && s->kind != TARGET_CPUS && i < s->targets.list.count; i++)
		if (!bounds_started(s->bounds, (uint32_t)s->targets.list.items[i].task, 0, false))
			return error_no_memory(err);
	s->alike = true; /* unless a gap is drawn */
	for (size_t i = 0; i < s->request.n_events; i++)
		s->alike = s->alike && !s->tracks[i].redrawn;
	if (!(s->kind == TARGET_PROCESSES ? open_processes(s, target, err) : sample_streams_open(s, err)))
		return false;
	for (size_t i = 0; s->kind != TARGET_CPUS && i < s->targets.list.count; i++)
		if (!vec_push(&s->tasks, s->targets.list.items[i].task))
			return error_no_memory(err);
	if (s->kind != TARGET_COMMAND && !s->own.path[0])
		return read_existing(s, err);
	if (s->own.path[0] && !sample_streams_switch(s, true, true, err))
		return false;
	return sample_streams_probe(s, err); /* its exec enables what is its own, and probes are the CPUs' */
}

static void perf_sampling_end(struct sampling *s)
{
	sample_streams_close(s);
	sampling_turns_free(&s->turns);
	bounds_free(s->bounds);
	launch_abandon(&s->launch);
	counter_targets_free(&s->targets);
	window_free(&s->window);
	vec_free(&s->tasks);
	if (s->existing)
		existing_free(s->existing);
	free(s->existing);
	free(s->tracks);
	if (s->cgroup >= 0)
		close(s->cgroup);
	own_cgroup_end(&s->own);
	free(s);
}

static bool perf_sampling_prepare(struct backend *backend, const struct target *target,
				  const struct sampling_request *request, const struct sampling_sink *sink,
				  struct sampling **out, struct error *err)
{
	*out = NULL;
	struct sampling *s = calloc(1, sizeof *s);
	if (!s)
		return error_no_memory(err);
	*s = (struct sampling){.backend = backend,
			       .kind = target->kind,
			       .heirs = heirs_of(target),
			       .request = *request,
			       .sink = *sink,
			       .random = {request->seed},
			       .wakes = -1,
			       .cgroup = -1,
			       .launch = {.go_fd = -1, .failed_fd = -1}};
	if (!s->request.redraw)
		s->request.redraw = GAP_REDRAW;
	if (!set_up(s, target, err)) {
		perf_sampling_end(s);
		return false;
	}
	*out = s;
	return true;
}

static pid_t perf_sampling_process(const struct sampling *s) { return s->pid; }

/* ---- drain ---- */

/* A ring whose tasks have all ended would wake the caller without end. */
static void wait_for_records(struct sampling *s, int timeout_ms)
{
	enum { AT_ONCE = 16 };
	struct epoll_event events[AT_ONCE];
	int n = epoll_wait(s->wakes, events, AT_ONCE, timeout_ms);
	for (int i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(s->wakes, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

static int perf_sampling_wakes(const struct sampling *s) { return s->wakes; }

static bool perf_sampling_drain(struct sampling *s, int timeout_ms, struct error *err)
{
	wait_for_records(s, timeout_ms);
	return sampling_round(s, false, err);
}

/* ---- go, enable, stop ---- */

/* The first gaps are drawn as well: otherwise each execution would begin with the same. */
static void draw_first(struct sampling *s)
{
	for (size_t i = 0; i < s->streams.count; i++) {
		struct stream *stream = &s->streams.items[i];
		if (stream_samples(stream) && s->tracks[stream->event].redrawn)
			stream_redraw(s, stream);
	}
}

/* A group's events are of CPUs, and no exec enables them: the program is held when its exec is done, so that
 * nothing of tare's part of it is counted. Where ptrace(2) is not allowed, that part is also sampled. */
static bool hold_at_exec(const struct sampling *s)
{
	return s->own.path[0] && !s->request.disabled &&
	       ptrace(PTRACE_SEIZE, s->pid, NULL, (void *)(uintptr_t)PTRACE_O_TRACEEXEC) == 0;
}

/* Waits for the exec; a signal before it is the program's. False: it has ended. */
static bool wait_for_exec(pid_t pid)
{
	siginfo_t info;
	for (;;) {
		int done = waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL);
		if (done != 0 && errno == EINTR)
			continue;
		if (done != 0 || info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		    info.si_code == CLD_DUMPED)
			return false;
		if (info.si_status >> 8 == PTRACE_EVENT_EXEC)
			return true;
		bool group_stop = info.si_status >> 8 == PTRACE_EVENT_STOP;
		ptrace(group_stop ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL,
		       (void *)(uintptr_t)(group_stop ? 0 : info.si_status & 0x7f));
	}
}

static bool perf_sampling_go(struct sampling *s, struct error *err)
{
	draw_first(s);
	s->on = !s->request.disabled;
	s->paused = s->request.disabled;
	if (s->on)
		sampling_turns_begin(s);
	bool held = hold_at_exec(s), done = true;
	if (s->kind != TARGET_COMMAND && !held && s->on && !sample_streams_switch(s, false, true, err))
		return false;
	if (s->launch.pid && !launch_go(&s->launch, &s->command, err)) {
		s->pid = 0;
		return false;
	}
	if (held && wait_for_exec(s->pid)) {
		done = sample_streams_switch(s, false, true, err);
		ptrace(PTRACE_DETACH, s->pid, NULL, NULL);
	}
	return done;
}

static bool perf_sampling_enable(struct sampling *s, bool on, struct error *err)
{
	s->on = on;
	s->paused = true;
	if (on && !s->turns.under_way)
		sampling_turns_begin(s);
	return sample_streams_switch(s, false, on, err) &&
	       (on || (sampling_empty_rings(s, err) && sampling_turns_end(s, err)));
}

static void end_courses(struct sampling *s)
{
	for (size_t i = 0; i < s->streams.count; i++)
		if (stream_samples(&s->streams.items[i]))
			stream_end_course(s, &s->streams.items[i]);
}

/* How many samples a gap lasted: as was asked for, or what it was where tare was too late. */
static uint32_t redraw_done(const struct sampled_track *track)
{
	double run = gap_mean_run(track->run_samples, track->run_squares);
	uint32_t asked = track->account.redraw;
	if (!asked || run < GAP_RUN_MOST || run < asked + 1.5)
		return asked;
	return run > UINT32_MAX ? UINT32_MAX : (uint32_t)(run + 0.5);
}

static void bound_account(const struct sample_bounds *bounds, struct sampling_account *account)
{
	const struct sampling_bounds_account *b = &bounds->account;
	account->bounds = *b;
	account->has_count = false; /* it is of the whole program */
	if (b->lost_hits || b->without_registers) {
		account->state = READING_FAILED;
		snprintf(account->why, sizeof account->why,
			 b->lost_hits
				 ? "the program reached the places where sampling begins and ends faster than "
				   "tare could read them"
				 : "sampling cannot begin or end at places of 32-bit code");
	}
}

/* A task has the event on each CPU and runs on one of them, and how much of that is enabled time differs between
 * kernels. The tracking events need no counter, and run whenever the task does: their time is the reference. Not
 * known where sampling was off for a part of it. */
static uint64_t enabled_once(const struct sampling *s, const struct sampling_account *account)
{
	if (s->kind == TARGET_CPUS)
		return account->enabled_ns;
	return s->paused || s->kind != TARGET_COMMAND ? account->running_ns : s->tracked_ns;
}

/* Linux counts a software event first and then samples it. Where the counter is switched off in between, it drops
 * the sample and tells nobody: on 6.18, 18 of 2,000 ends while a program faulted. At gap 1 that shows. */
static void account_dropped(const struct sampled_track *track, struct sampling_account *account)
{
	bool each = track->asked.gaps == GAPS_FIXED && track->asked.gap == 1 && !track->is_clock;
	uint64_t told = account->samples + account->lost;
	if (each && account->has_count && account->count > told && account->count - told <= track->switched_off)
		account->lost = account->count - account->samples;
}

static bool perf_sampling_stop(struct sampling *s, struct sampling_account *accounts, struct error *err)
{
	if (!sample_streams_switch(s, false, false, err) || !sample_streams_switch(s, true, false, err))
		return false;
	bool done = sampling_round(s, true, err) && sampling_turns_end(s, err);
	sample_streams_read(s);
	if (s->bounds)
		bounds_finish(s->bounds, s->probe_hits, s->lost_hits);
	end_courses(s);
	for (size_t i = 0; i < s->request.n_events; i++) {
		struct sampling_account *account = &s->tracks[i].account;
		account->lost_facts = s->lost_facts;
		if (s->bounds)
			bound_account(s->bounds, account);
		account_dropped(&s->tracks[i], account);
		account->enabled_ns = enabled_once(s, account);
		account->redrawn_until_ns = account->redraw ? s->alike_ns : 0;
		account->redraw = redraw_done(&s->tracks[i]);
		accounts[i] = *account;
	}
	return done;
}

/* ---- available, cost ---- */

static void perf_sampling_available(struct backend *backend, const struct event *event, enum reading_state *state,
				    char why[256])
{
	const struct answer *answer;
	char remedy[256];
	sampling_trial(backend, event, &answer, state, why, remedy);
}

const struct sampling_operations perf_sampling = {
	.available = perf_sampling_available,
	.cost = sampling_cost,
	.prepare = perf_sampling_prepare,
	.process = perf_sampling_process,
	.wakes = perf_sampling_wakes,
	.go = perf_sampling_go,
	.enable = perf_sampling_enable,
	.drain = perf_sampling_drain,
	.stop = perf_sampling_stop,
	.end = perf_sampling_end,
};

/*
 * The program is started held (launch.h), taken over at its exec (engine/inject), and counted from its record when it has ended.
 *
 *     prepare: record, attendant, held process     go: take-over     stop: view ──► tally ──► readings
 *
 * What always holds:
 *  1. One execution counts every event of the engine, so that fits() is always true.
 *  2. A reading is COUNTED only if the runtime, the record and the tally all say that it is exact; otherwise it is FAILED, with the
 *     reason. There is no approximate reading.
 *  3. With no event asked for, the program runs natively and no engine is near it.
 */
#include "backend/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "backend/exact/blocks.h"
#include "backend/exact/events.h"
#include "backend/exact/fold.h"
#include "backend/exact/syscalls.h"
#include "backend/exact/tally.h"
#include "backend/exact/trial.h"
#include "backend/launch.h"
#include "base/clock.h"
#include "engine/inject/session.h"

struct backend {
	struct trial trial;
};

struct counting {
	struct launch launch;
	struct command command; /* its strings are borrowed until stop */
	struct session *session; /* NULL: natively */
	const struct exact_event **events;
	size_t n;
	bool children, per_thread, per_process;
	uint64_t began_ns;
};

static uint64_t now_ns(void)
{
	struct clock clock = clock_monotonic();
	return clock_now_ns(&clock);
}

static bool open_exact(const char *argument, struct backend **out, struct error *err)
{
	*out = NULL;
	if (argument && *argument) {
		error_set(err, ERROR_USAGE, "the backend 'exact' takes no argument '%s'", argument);
		return error_hint(err, "use --on exact");
	}
	*out = calloc(1, sizeof **out);
	return *out || error_no_memory(err);
}

static void close_exact(struct backend *backend)
{
	free(backend);
}

static void available(struct backend *backend, const struct event *event, struct availability *out)
{
	const struct exact_event *exact = exact_event_find(event);
	*out = (struct availability){.state = READING_UNSUPPORTED};
	if (!exact)
		snprintf(out->why, sizeof out->why, "the engine does not count '%.100s': it counts what instructions do, in user mode",
		         event->label);
	else if (event->levels == LEVEL_KERNEL)
		snprintf(out->why, sizeof out->why, "the engine counts user mode only");
	else if (event->levels & LEVEL_KERNEL) {
		/* no level asked for means both: a part is no count of that */
		snprintf(out->why, sizeof out->why, "the engine counts user mode only, and both levels were asked for");
		snprintf(out->remedy, sizeof out->remedy, "ask for it at user level: %.100s:u", event->label);
	}
	else if (exact->why_not)
		snprintf(out->why, sizeof out->why, "%s", exact->why_not);
	else if (!trial_passed(&backend->trial)) {
		snprintf(out->why, sizeof out->why, "%.250s", backend->trial.why);
		snprintf(out->remedy, sizeof out->remedy, "%.250s", backend->trial.remedy);
	} else
		*out = (struct availability){.state = READING_COUNTED, .source = SOURCE_EXACT};
}

static bool fits(struct backend *backend, const struct event *const *events, size_t n)
{
	(void)backend, (void)events, (void)n;
	return true;
}

static bool native(struct backend *backend, const struct event *const *events, size_t n)
{
	(void)backend, (void)events;
	return n == 0;
}

static void end(struct counting *c)
{
	if (!c)
		return;
	launch_abandon(&c->launch);
	session_free(c->session);
	free(c->events);
	free(c);
}

static bool prepare(struct backend *backend, const struct target *target, const struct event *const *events, size_t n,
                    struct counting **out, struct error *err)
{
	struct session_options options = {.size = sizeof options, .fold = fold_part};
	struct counting *c;
	(void)backend;
	*out = NULL;
	if (target->kind != TARGET_COMMAND) {
		error_set(err, ERROR_UNSUPPORTED, "the engine counts programs that tare starts, not running ones");
		return error_hint(err, "give the program's command, or use --on perf");
	}
	if (!(c = calloc(1, sizeof *c)))
		return error_no_memory(err);
	c->launch = (struct launch){.go_fd = -1, .failed_fd = -1};
	c->command = *target->command;
	c->n = n, c->children = target->follow_children, c->per_thread = target->per_thread;
	c->per_process = target->per_process;
	if (!(c->events = calloc(n + 1, sizeof *c->events))) {
		error_no_memory(err);
		goto fail;
	}
	for (size_t i = 0; i < n; i++)
		c->events[i] = events[i]->levels == LEVEL_USER ? exact_event_find(events[i]) : NULL;
	/* the attendant is made first: it shall hold none of the command's descriptors */
	if (n > 0 && !session_new(&options, &c->session, err))
		goto fail;
	if (!launch_hold(target->command, &c->launch, err))
		goto fail;
	*out = c;
	return true;
fail:
	end(c);
	return false;
}

static pid_t process(const struct counting *c)
{
	return c->launch.pid;
}

/* As launch_go() does; that waits for the exec, which here the tracer must. */
static void release(void *arg)
{
	const struct launch *launch = arg;
	send(launch->go_fd, "g", 1, MSG_NOSIGNAL);
}

static bool go(struct counting *c, struct error *err)
{
	if (c->session) {
		switch (session_take(c->session, c->launch.pid, release, &c->launch, err)) {
		case SESSION_FAILED:
			c->launch.pid = 0;
			return false;
		case SESSION_NOT_STARTED: /* launch_go() says why */
		case SESSION_TAKEN: break;
		}
	}
	c->began_ns = now_ns();
	return launch_go(&c->launch, &c->command, err);
}

static struct reading failed(const char *why)
{
	return (struct reading){.state = READING_FAILED, .source = SOURCE_NONE, .why = why, .cpu = -1};
}

static bool look(const struct counting *c, bool still_running, struct view **view, struct tally **tally, struct error *err)
{
	struct tally_options options = {.children = c->children, .still_running = still_running};
	*tally = NULL;
	for (size_t i = 0; i < c->n; i++) {
		options.blocks |= c->events[i] && exact_event_uses(c->events[i], COUNT_BASIC_BLOCKS);
		options.code_lines |= c->events[i] && (exact_event_uses(c->events[i], COUNT_CODE_LINES) ||
		                                       exact_event_uses(c->events[i], COUNT_CODE_PAGES));
	}
	return view_new(c->session, view, err) && tally_new(*view, &options, tally, err);
}

/* why: lives as long as the reading has to, or is NULL. */
static struct reading reading_of(const struct exact_event *event, const char *why, const uint64_t *counts, uint64_t ns)
{
	struct reading r = {.state = READING_COUNTED, .source = SOURCE_EXACT, .enabled_ns = ns, .running_ns = ns, .cpu = -1};
	if (!event)
		return failed("the engine does not count it");
	if (why)
		return failed(why);
	if (!exact_event_value(event, counts, &r.count_raw))
		return failed("the count does not fit in 64 bits");
	return r;
}

static bool sample(struct counting *c, struct reading *readings, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = c->session == NULL || look(c, true, &view, &tally, err);
	if (done && c->session)
		for (size_t i = 0; i < c->n; i++)
			readings[i] = reading_of(c->events[i],
			                         c->events[i] && exact_event_unknown(c->events[i], tally) ? "not known so far" : NULL,
			                         tally->total, now_ns() - c->began_ns);
	tally_free(tally);
	view_free(view);
	return done;
}

/* Code lines and pages are of processes: a thread has none of its own. */
static bool is_of_process(const struct exact_event *event)
{
	return exact_event_uses(event, COUNT_CODE_LINES) || exact_event_uses(event, COUNT_CODE_PAGES);
}

/* The rows of a process's threads as one. What a process executes after an exec is its own, too. */
static bool join_threads(struct tally *tally)
{
	size_t n = 0;
	for (size_t i = 0; i < tally->n_rows; i++) {
		struct tally_row *row = NULL;
		for (size_t j = 0; j < n && !row; j++)
			if (tally->rows[j].pid == tally->rows[i].pid)
				row = &tally->rows[j];
		if (!row) {
			tally->rows[n] = tally->rows[i];
			tally->rows[n++].tid = 0;
			continue;
		}
		for (size_t count = 0; count < COUNTS; count++)
			if (__builtin_add_overflow(row->count[count], tally->rows[i].count[count], &row->count[count]))
				return false;
	}
	tally->n_rows = n;
	return true;
}

/* All rows of one event. */
static bool fill(struct run *run, size_t i, const struct exact_event *event, const struct tally *tally, bool rows, uint64_t ns)
{
	const char *why = event && tally ? exact_event_unknown(event, tally) : NULL;
	if (why && !(why = arena_strdup(&run->arena, why)))
		return false;
	for (size_t row = 0; row < run->n_rows; row++) {
		struct reading *r = &run->readings[row * run->n_events + i];
		if (!rows)
			*r = reading_of(event, why, tally ? tally->total : NULL, ns);
		else if (event && is_of_process(event))
			*r = failed("it is counted of the whole, not of its parts");
		else
			*r = reading_of(event, why, tally->rows[row].count, ns);
		r->tid = rows ? (pid_t)tally->rows[row].tid : 0;
		r->pid = rows ? (pid_t)tally->rows[row].pid : 0;
	}
	return true;
}

static bool stop(struct counting *c, struct run *run, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = false;
	uint64_t ns = now_ns() - c->began_ns;
	run->under_engine = c->session != NULL;
	run->n_events = c->n;
	run->n_rows = 1;
	if (c->session && !look(c, false, &view, &tally, err))
		goto out;
	bool rows = tally && (c->per_thread || c->per_process) && tally->n_rows > 0;
	if (rows && c->per_process && !c->per_thread && !join_threads(tally)) {
		error_set(err, ERROR_UNSUPPORTED, "a process's count does not fit in 64 bits");
		goto out;
	}
	if (rows)
		run->n_rows = tally->n_rows;
	run->readings = arena_alloc(&run->arena, (run->n_rows * run->n_events + 1) * sizeof *run->readings);
	done = run->readings != NULL;
	for (size_t i = 0; done && i < c->n; i++)
		done = fill(run, i, c->events[i], tally, rows, ns);
	if (!done)
		error_no_memory(err);
out:
	tally_free(tally);
	view_free(view);
	return done;
}

static bool write_blocks(struct counting *c, enum blocks_by by, struct str *out, struct error *err)
{
	static const enum blocks_groups groups[] = {[BLOCKS_OF_ALL] = BLOCKS_TOGETHER, [BLOCKS_OF_PROCESSES] = BLOCKS_BY_PROCESS,
		[BLOCKS_OF_THREADS] = BLOCKS_BY_THREAD};
	struct view *view = NULL;
	struct blocks *blocks = NULL;
	bool done = false;
	if (!c->session)
		return error_set(err, ERROR_USAGE, "the program did not run under the engine: no event of it was asked for");
	if (!view_new(c->session, &view, err) || !blocks_new(view, c->children, groups[by], &blocks, err))
		goto out;
	if (blocks->why) {
		error_set(err, ERROR_UNSUPPORTED, "no basic blocks: %s", blocks->why);
		goto out;
	}
	blocks_write(blocks, groups[by], out);
	done = true;
out:
	blocks_free(blocks);
	view_free(view);
	return done;
}

static bool write_system_calls(struct counting *c, struct str *out, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = false;
	if (!c->session)
		return error_set(err, ERROR_USAGE, "the program did not run under the engine: no event of it was asked for");
	if (!look(c, false, &view, &tally, err))
		goto out;
	if (tally->why) {
		error_set(err, ERROR_UNSUPPORTED, "no system calls: %s", tally->why);
		goto out;
	}
	syscalls_write(view, c->children, out);
	done = true;
out:
	tally_free(tally);
	view_free(view);
	return done;
}

static void diagnose(struct backend *backend, struct finding *findings, size_t most, size_t *count)
{
	if (*count == most)
		return;
	bool works = trial_passed(&backend->trial);
	struct finding *f = &findings[(*count)++];
	*f = (struct finding){.state = works ? FINDING_WORKS : FINDING_NO};
	snprintf(f->what, sizeof f->what, "exact counts");
	if (works)
		snprintf(f->detail, sizeof f->detail, "tare's engine counts a known program to the instruction (user mode, programs that "
		         "tare starts)");
	else {
		snprintf(f->detail, sizeof f->detail, "%.250s", backend->trial.why);
		snprintf(f->step, sizeof f->step, "%.250s", backend->trial.remedy);
	}
}

const struct backend_operations exact_backend = {
	.name = "exact",
	.summary = "tare's engine: what instructions do, counted exactly, in user mode, with no PMU; x86-64",
	.starts_only = true,
	.open = open_exact,
	.close = close_exact,
	.available = available,
	.fits = fits,
	.native = native,
	.prepare = prepare,
	.process = process,
	.go = go,
	.sample = sample,
	.stop = stop,
	.blocks = write_blocks,
	.system_calls = write_system_calls,
	.end = end,
	.diagnose = diagnose,
};

/* Adding events: each is tried, then opened where the scope wants it.
 *
 * THREAD: into the newest group if the kernel takes it there and the group then really runs, else into a new
 * group. The kernel accepts groups that never get on the PMU (perf_event_open(2): a counter can be held by
 * others), so that acceptance alone proves nothing. Events of some cores only stay alone: a group is off where one
 * of its events is.
 *
 * PROCESS: on every thread, with PERF's inherit_thread for threads to come. A thread that is created while the
 * list is walked is either inherited from its creator or not, and nobody can tell: the event is opened anew until
 * the threads before and after are the same. */
#include "api/counters_call.h"
#include "api/engine_set.h"
#include "api/user_read.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/failure.h"
#include "backend/perf/state.h"
#include "backend/perf/trial/stimulus.h"
#include "backend/perf/counter/targets.h"

enum { SCANS_MOST = 100 };

void counters_cut(struct tare_counters *c, size_t count)
{
	while (c->groups.count && c->groups.items[c->groups.count - 1].first >= count)
		c->groups.count--;
	if (c->groups.count) {
		struct counter_group *last = &c->groups.items[c->groups.count - 1];
		if (last->first + last->n > count)
			last->n = count - last->first;
	}
	while (c->events.count > count) {
		struct counted_event *event = &c->events.items[--c->events.count];
		for (size_t i = 0; i < event->n_fds; i++)
			close(event->fds[i]);
		free(event->fds);
	}
}

static bool refused(struct tare_counters *c, const struct answer *answer, const struct event *event, pid_t task,
		    int os_errno, struct error *err)
{
	const struct attempt attempt = {.action = COUNTER_OPEN,
					.event = event->label,
					.how = answer->how,
					.levels = answer->levels,
					.type = answer->encoding.type,
					.task = task,
					.cpu = COUNTER_ANY_CPU,
					.threads_only = c->scope == TARE_PROCESS,
					.counters = c->events.count + 1};
	return failure_explain(os_errno, &attempt, machine_state(c->perf), err);
}

static enum error_code code_of(enum reading_state state)
{
	switch (state) {
	case READING_DENIED: return ERROR_PERMISSION;
	case READING_NEVER_RAN: return ERROR_BUSY;
	case READING_FAILED: return ERROR_SYSTEM;
	default: return ERROR_UNSUPPORTED;
	}
}

static void close_counters(struct counted_event *event, size_t from)
{
	while (event->n_fds > from)
		close(event->fds[--event->n_fds]);
}

static bool user_asked(const struct answer *answer)
{
	return answer->variants.n == 1 && user_type(answer->encoding.type, answer->variants.pmu);
}

/* One counter for each kind of core, on a thread. ESRCH when the thread has ended; then none is left. */
static int open_kinds(const struct answer *answer, struct counted_event *event, enum counter_heirs heirs,
		      pid_t thread)
{
	size_t before = event->n_fds;
	int *fds = realloc(event->fds, (before + event->kinds) * sizeof *fds);
	if (!fds)
		return ENOMEM;
	event->fds = fds;
	for (size_t kind = 0; kind < event->kinds; kind++) {
		struct counter_request request = {.encoding = &answer->variants.items[kind].encoding,
						  .levels = answer->open_levels,
						  .heirs = heirs,
						  .user_read = heirs == HEIRS_NONE && user_asked(answer)};
		int fd = counter_open(&request, thread, COUNTER_ANY_CPU);
		if (fd < 0) {
			int reason = errno;
			close_counters(event, before);
			return reason;
		}
		event->fds[event->n_fds++] = fd;
	}
	return 0;
}

/* ---- a thread ---- */

/* Does the group run when it is started? Nothing else of this set does now. */
static bool group_runs(int leader, size_t n)
{
	uint64_t before[3 + TARE_EVENTS_MOST], after[3 + TARE_EVENTS_MOST];
	ssize_t bytes = (ssize_t)((3 + n) * sizeof *before);
	bool known = read(leader, before, sizeof before) == bytes && ioctl(leader, PERF_EVENT_IOC_ENABLE, 0) == 0;
	stimulus_loop(1000);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
	known = known && read(leader, after, sizeof after) == bytes;
	return known && after[2] > before[2];
}

static int open_grouped(const struct answer *answer, int leader)
{
	const struct counter_request request = {.encoding = &answer->variants.items[0].encoding,
						.levels = answer->open_levels,
						.grouped = true,
						.leader = leader,
						.user_read = user_asked(answer)};
	return counter_open(&request, COUNTER_SELF, COUNTER_ANY_CPU);
}

/* Opens a member of the group. A group of one is not read as a group, and how a counter is read is fixed when it
 * is opened: its event gets another counter, that leads, then. Its counts go on (leave_out_trials()). The member's
 * descriptor, or -1 when it does not fit and the group is as before. */
static int join(struct tare_counters *c, struct counter_group *group, const struct answer *member)
{
	struct counted_event *first = &c->events.items[group->first];
	int leader = first->fds[0], fd = -1;
	if (first->kinds > 1 || (first->flags & TARE_SOME_CPUS))
		return -1;
	if (!group->grouped) {
		const struct answer *answer = answer_find(c->perf, &first->event);
		leader = answer ? open_grouped(answer, -1) : -1;
	}
	if (leader >= 0)
		fd = open_grouped(member, leader);
	if (fd >= 0 && group_runs(leader, group->n + 1)) {
		if (!group->grouped) {
			close(first->fds[0]);
			first->fds[0] = leader;
			group->grouped = true;
		}
		group->n++;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	if (leader >= 0 && !group->grouped)
		close(leader);
	return -1;
}

/* *joined: it is a member of the last group. */
static bool open_for_thread(struct tare_counters *c, const struct answer *answer, struct counted_event *event,
			    bool *joined, struct error *err)
{
	if (c->groups.count && event->kinds == 1 && !(event->flags & TARE_SOME_CPUS)) {
		int fd = join(c, &c->groups.items[c->groups.count - 1], answer);
		*joined = fd >= 0;
		if (*joined) {
			event->fds = malloc(sizeof *event->fds);
			if (!event->fds) {
				close(fd);
				return error_no_memory(err);
			}
			event->fds[event->n_fds++] = fd;
			return true;
		}
	}
	int reason = open_kinds(answer, event, HEIRS_NONE, COUNTER_SELF);
	return reason == 0 || refused(c, answer, &event->event, 0, reason, err);
}

/* ---- a process ---- */

/* A thread that has ended meanwhile counts nothing. */
static bool open_listed(struct tare_counters *c, const struct answer *answer, struct counted_event *event,
			const struct counter_targets *threads, struct error *err)
{
	for (size_t i = 0; i < threads->list.count; i++) {
		pid_t thread = threads->list.items[i].task;
		int reason = open_kinds(answer, event, HEIRS_THREADS, thread);
		if (reason != 0 && reason != ESRCH)
			return refused(c, answer, &event->event, thread, reason, err);
	}
	return true;
}

static bool open_for_process(struct tare_counters *c, const struct answer *answer, struct counted_event *event,
			     struct error *err)
{
	const struct target self = {.kind = TARGET_PROCESSES, .pids = &c->process, .n_pids = 1};
	for (unsigned scan = 0; scan < SCANS_MOST; scan++) {
		struct counter_targets before, after;
		if (!counter_targets_find(&before, &self, err))
			return false;
		bool done = open_listed(c, answer, event, &before, err);
		if (!done || !counter_targets_find(&after, &self, err)) {
			counter_targets_free(&before);
			return false;
		}
		bool same = counter_targets_same(&before, &after);
		counter_targets_free(&before);
		counter_targets_free(&after);
		if (same)
			return true;
		close_counters(event, 0);
	}
	error_set(err, ERROR_BUSY, "cannot count all threads: they start and end faster than they are found");
	return error_hint(err, "add the events before the threads are started");
}

/* ---- both ---- */

static bool add_one(struct tare_counters *c, const struct event *event, struct error *err)
{
	struct counted_event added = {.event = *event,
				      .unit = event->definition ? event->definition->unit : "events"};
	bool joined = false;
	if (c->events.count >= TARE_EVENTS_MOST) {
		error_set(err, ERROR_LIMIT, "a set has at most %d events; '%s' is one more", TARE_EVENTS_MOST,
			  event->label);
		return error_hint(err, "open another set");
	}
	const struct answer *answer = answer_find(c->perf, event);
	if (!answer)
		return error_no_memory(err);
	const struct availability *a = &answer->availability;
	if (a->state != READING_COUNTED) {
		error_set(err, code_of(a->state), "cannot count '%s': %s", event->label, a->why);
		return error_hint(err, "%s", a->remedy);
	}
	if (answer->cpus_only)
		return error_set(err, ERROR_UNSUPPORTED,
				 "cannot count '%s': it is counted for a CPU, not for a thread or process",
				 event->label);
	added.source = a->source;
	added.scale = answer->encoding.scale != 0 ? answer->encoding.scale : 1;
	added.kinds = answer->variants.n;
	added.flags = answer->variants.some_cores ? TARE_SOME_CPUS : 0;
	bool done = c->scope == TARE_THREAD ? open_for_thread(c, answer, &added, &joined, err)
					    : open_for_process(c, answer, &added, err);
	/* on failure tare_add() cuts the groups */
	struct counter_group alone = {.first = c->events.count, .n = 1};
	if (done && !joined && !vec_push(&c->groups, alone))
		done = error_no_memory(err);
	if (done && !vec_push(&c->events, added))
		done = error_no_memory(err);
	if (!done) {
		close_counters(&added, 0);
		free(added.fds);
	}
	return done;
}

/* The trials have counted in events that were there before, or these have got other counters: their bases take it,
 * so that their readings stay what they were. Differences wrap around as they should. */
static bool leave_out_trials(struct tare_counters *c, size_t had, const struct tare_reading *before,
			     struct error *err)
{
	struct tare_reading now[TARE_EVENTS_MOST];
	if (!counters_read_raw(c, now))
		return error_set_errno(err, ERROR_IO, errno, "cannot read the counters");
	for (size_t i = 0; i < c->events.count; i++) {
		struct tare_reading *base = &c->events.items[i].base;
		struct tare_reading from = i < had ? before[i] : *base; /* a new one's base is 0 */
		base->count += now[i].count - from.count;
		base->enabled_ns += now[i].enabled_ns - from.enabled_ns;
		base->running_ns += now[i].running_ns - from.running_ns;
	}
	return true;
}

static void read_by_user(struct tare_counters *c)
{
	enum user_why why = c->events.count ? user_possible(c, c->user_wanted) : USER_NO_REGISTER;
	atomic_store_explicit(&c->user->why, why, memory_order_relaxed);
	if (why == USER_READS)
		user_open(c->user, c);
}

COUNTERS_CALL(bool, tare_add, counters_add, struct tare_counters *c, const char *events, struct tare_error *error)
{
	struct error inner = {0};
	struct event *list = NULL;
	size_t n = 0, had = c->events.count;
	struct tare_reading before[TARE_EVENTS_MOST];

	if (!counters_here(c, error))
		return false;
	if (c->started)
		return api_fail_text(error, TARE_ERROR_USAGE, "events cannot be added to a set that is started",
				     "stop the set first, or open another one");
	if (!events || !*events)
		return api_fail_text(error, TARE_ERROR_USAGE, "no event is named", "");
	if (c->scope == TARE_THREAD && c->thread != gettid())
		return api_fail_text(error, TARE_ERROR_USAGE, "another thread opened the set",
				     "let it add the events, or open a set in this thread");
	if (c->engine)
		return engine_add(c, events, error);
	if (!counters_read_raw(c, before))
		return api_fail_errno(error, TARE_ERROR_IO, errno, "cannot read the counters");
	user_close(c->user); /* a page keeps its counter open */
	bool done = event_parse_list(c->table, events, &list, &n, &inner);
	for (size_t i = 0; done && i < n; i++)
		done = add_one(c, &list[i], &inner);
	if (!done)
		counters_cut(c, had);
	struct error unread = {0};
	if (!leave_out_trials(c, had, before, &unread) && done) {
		inner = unread;
		counters_cut(c, had);
		done = false;
	}
	free(list);
	read_by_user(c);
	if (done)
		return true;
	api_fail(error, &inner);
	engine_suggest(error, events);
	return false;
}

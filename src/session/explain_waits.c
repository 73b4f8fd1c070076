/* Where threads wait: one execution that is sampled each time that a thread leaves its CPU (the context-switches
 * event with stacks, which needs no PMU), the kernel's records of switches, and looks at threads that are off. The
 * same execution has its page faults by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "explain/off_cpu.h"
#include "session/explain_inside.h"
#include "session/profile.h"

enum { SWITCHES, FAULTS };
struct looked {
	uint32_t tid;
	uint64_t time_ns;
};

struct watching {
	struct explaining *x;
	VEC(struct off_cpu_event) events;
	VEC(struct looked) looks; /* of each thread the last */
};

/* ---- while it runs ---- */

/* When the thread was looked at last; NULL: memory ran out. */
static struct looked *last_look(struct watching *w, uint32_t tid)
{
	for (size_t i = 0; i < w->looks.count; i++)
		if (w->looks.items[i].tid == tid)
			return &w->looks.items[i];
	return vec_push(&w->looks, ((struct looked){tid, 0})) ? &w->looks.items[w->looks.count - 1] : NULL;
}

/* A thread that left its CPU some ms ago, if it was not looked at since. That it runs again is not a look. */
static bool look_at(struct watching *w, const struct sampled_switch *change)
{
	const struct clock clock = clock_monotonic();
	struct looked *last = last_look(w, change->tid);
	struct off_cpu_event look = {.tid = change->tid, .kind = OFF_CPU_LOOK};
	if (!last || last->time_ns >= change->time_ns)
		return last != NULL;
	look.time_ns = clock_now_ns(&clock);
	if (!native_look((pid_t)change->pid, (pid_t)change->tid, &look.call))
		return true;
	last->time_ns = look.time_ns;
	return vec_push(&w->events, look);
}

static bool on_switch(void *context, const struct sampled_switch *change, struct error *err)
{
	struct watching *w = context;
	const struct off_cpu_event event = {.time_ns = change->time_ns,
					    .tid = change->tid,
					    .kind = change->in ? OFF_CPU_IN : OFF_CPU_OUT,
					    .preempted = change->preempted};
	bool waits = !change->in && !change->preempted;
	return (vec_push(&w->events, event) && (!waits || look_at(w, change))) || error_no_memory(err);
}

/* ---- when it has ended ---- */

/* The innermost node of the user's part of a stack; 0: it has none. */
static uint32_t user_node(const struct profile *p, uint32_t node)
{
	while (node && p->modules[p->nodes[node].module].kind == MODULE_KERNEL)
		node = p->nodes[node].parent;
	return node;
}

static bool take_samples(struct watching *w, const struct profile *p)
{
	for (size_t i = 0; i < p->n_moments; i++) {
		const struct profile_moment *m = &p->moments[i];
		if (m->event != SWITCHES)
			continue;
		uint32_t node = user_node(p, m->node);
		const struct off_cpu_event event = {.time_ns = m->time_ns,
						    .tid = p->tasks[m->task].tid,
						    .kind = OFF_CPU_SAMPLE,
						    .place = node ? node : OFF_CPU_NO_PLACE};
		if (!vec_push(&w->events, event))
			return false;
	}
	return true;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path ? path : "";
}

bool explaining_is_c_library(const char *path)
{
	static const char *const names[] = {"libc.so", "libc-", "libc.musl", "libpthread", "ld-"};
	const char *name = base_name(path);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* What the C library's functions wait for, by their names without underscores in front: of waits that were too
 * short for a look. */
static const struct {
	enum cause cause;
	const char *names; /* each between spaces */
} waiting_functions[] = {
	{CAUSE_WAITING, " pthread_join pthread_timedjoin_np pthread_clockjoin_ex wait wait3 wait4 waitpid waitid "
			"sigsuspend pause "},
	{CAUSE_LOCKS,
	 " pthread_mutex_lock pthread_mutex_timedlock pthread_cond_wait pthread_cond_timedwait "
	 "pthread_cond_clockwait "
	 "pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_barrier_wait sem_wait sem_timedwait lll_lock_wait "
	 "lll_lock_wait_private flock semop "},
	{CAUSE_SLEEPING, " nanosleep clock_nanosleep usleep sleep "},
	{CAUSE_IO,
	 " read write readv writev pread64 pwrite64 pread pwrite poll ppoll select pselect epoll_wait epoll_pwait "
	 "accept accept4 connect recv recvfrom recvmsg send sendto sendmsg fsync fdatasync open open64 openat "
	 "openat64 close getdents64 sendfile splice "},
};

bool explaining_waits_by_name(const char *function, enum cause *out)
{
	char word[64];
	while (*function == '_')
		function++;
	if (snprintf(word, sizeof word, " %s ", function) >= (int)sizeof word)
		return false;
	for (size_t i = 0; i < sizeof waiting_functions / sizeof *waiting_functions; i++)
		if (strstr(waiting_functions[i].names, word)) {
			*out = waiting_functions[i].cause;
			return true;
		}
	return false;
}

/* Of a stack's part in the C library the innermost function with such a name. */
static enum cause cause_by_names(const struct named_profile *named, uint32_t node)
{
	const struct profile *p = named->profile;
	enum cause cause;
	for (; node && explaining_is_c_library(p->modules[p->nodes[node].module].path);
	     node = p->nodes[node].parent) {
		const struct named_place *place = &named->places[named->place_of_node[node]];
		for (uint32_t k = 0; k < place->n_frames; k++) {
			const struct named_frame *frame = &named->frames[place->first_frame + k];
			if (explaining_waits_by_name(named->functions[frame->function].name, &cause))
				return cause;
		}
	}
	return CAUSE_WAITING;
}

/* The functions of a stack, and the first line that is not of the C library; its own where there is no other. */
static bool fill_stack(struct explaining *x, const struct named_profile *named, uint32_t node,
		       struct explained_wait *out)
{
	const struct profile *p = named->profile;
	struct arena *arena = &x->e->arena;
	out->functions = arena_alloc(arena, EXPLAINING_FUNCTIONS * sizeof *out->functions);
	if (!out->functions)
		return false;
	for (; node; node = p->nodes[node].parent) {
		const struct named_place *place = &named->places[named->place_of_node[node]];
		bool of_own = !explaining_is_c_library(p->modules[place->module].path);
		for (uint32_t k = 0; k < place->n_frames; k++) {
			const struct named_frame *frame = &named->frames[place->first_frame + k];
			const char *name = named->functions[frame->function].name;
			if (out->n_functions < EXPLAINING_FUNCTIONS &&
			    !(out->functions[out->n_functions++] = arena_strdup(arena, name)))
				return false;
			if (!frame->file || !frame->line || out->is_own || (out->file && !of_own))
				continue;
			if (!(out->file = arena_strdup(arena, frame->file)))
				return false;
			out->line = frame->line;
			out->is_own = of_own;
		}
	}
	return true;
}

/* Waits that were too short for a look are of the call in which longer ones of the same place were seen. */
static long call_of(const struct off_cpu *off, const struct off_cpu_wait *wait)
{
	for (size_t i = 0; wait->call == OFF_CPU_NO_CALL && i < off->waits.count; i++)
		if (off->waits.items[i].place == wait->place && off->waits.items[i].call != OFF_CPU_NO_CALL)
			return off->waits.items[i].call;
	return wait->call;
}

static bool add_wait(struct explaining *x, const struct named_profile *named, const struct off_cpu *off,
		     const struct off_cpu_wait *wait, uint32_t *places)
{
	struct explanation *e = x->e;
	long call = call_of(off, wait);
	double seconds = 1e-9 * (double)wait->ns;
	e->waits_s += seconds;
	for (size_t i = 0; i < e->waits.count; i++)
		if (places[i] == wait->place && e->waits.items[i].call == call) {
			e->waits.items[i].seconds += seconds;
			e->waits.items[i].times += wait->waits;
			return true;
		}
	struct explained_wait new = {
		.cause = call != OFF_CPU_NO_CALL           ? native_cause_of(call)
			 : wait->place == OFF_CPU_NO_PLACE ? CAUSE_WAITING
							   : cause_by_names(named, wait->place),
		.seconds = seconds,
		.times = wait->waits,
		.call = call,
	};
	if (wait->place != OFF_CPU_NO_PLACE && !fill_stack(x, named, wait->place, &new))
		return false;
	places[e->waits.count] = wait->place;
	return vec_push(&e->waits, new);
}

static int longer(const void *a, const void *b)
{
	const struct explained_wait *x = a, *y = b;
	return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : 0;
}

static int more_faults(const void *a, const void *b)
{
	const struct explained_fault *x = a, *y = b;
	return x->faults < y->faults ? 1 : x->faults > y->faults ? -1 : 0;
}

static bool take_waits(struct watching *w, const struct named_profile *named)
{
	struct explanation *e = w->x->e;
	struct off_cpu off;
	bool done = off_cpu_join(w->events.items, w->events.count, &off);
	uint32_t *places = done ? calloc(off.waits.count + 1, sizeof *places) : NULL;
	done = places != NULL;
	for (size_t i = 0; done && i < off.waits.count; i++)
		done = add_wait(w->x, named, &off, &off.waits.items[i], places);
	e->preempted_s = 1e-9 * (double)off.preempted_ns;
	if (e->waits.count)
		qsort(e->waits.items, e->waits.count, sizeof *e->waits.items, longer);
	free(places);
	off_cpu_free(&off);
	return done;
}

/* The innermost line of the stack that is not of the C library; NULL: it has none. */
static const struct named_frame *own_frame(const struct named_profile *named, uint32_t node)
{
	const struct profile *p = named->profile;
	for (node = user_node(p, node); node; node = p->nodes[node].parent) {
		const struct named_place *place = &named->places[named->place_of_node[node]];
		for (uint32_t k = 0; k < place->n_frames; k++) {
			const struct named_frame *frame = &named->frames[place->first_frame + k];
			if (frame->file && frame->line && !explaining_is_c_library(p->modules[place->module].path))
				return frame;
		}
	}
	return NULL;
}

struct faulting_line {
	const struct named_frame *frame;
	uint64_t faults;
};

static void add_faults(struct faulting_line *lines, size_t *n, const struct named_frame *frame, uint64_t faults)
{
	size_t i = 0;
	while (i < *n && (lines[i].frame->line != frame->line || strcmp(lines[i].frame->file, frame->file) != 0))
		i++;
	if (i == *n)
		lines[(*n)++] = (struct faulting_line){frame, 0};
	lines[i].faults += faults;
}

/* Of all page faults the line that has most, with those of what it calls in the C library (memset(3)). */
static bool find_faulting(struct explaining *x, const struct named_profile *named)
{
	const struct profile *p = named->profile;
	const struct faulting_line *most = NULL;
	size_t n = 0;
	uint64_t *of_node = calloc(p->n_nodes + 1, sizeof *of_node);
	struct faulting_line *lines = calloc(p->n_nodes + 1, sizeof *lines);
	bool done = of_node && lines;
	for (size_t i = 0; done && i < p->n_moments; i++)
		if (p->moments[i].event == FAULTS)
			of_node[p->moments[i].node]++;
	for (uint32_t node = 0; done && node < p->n_nodes; node++) {
		const struct named_frame *frame = of_node[node] ? own_frame(named, node) : NULL;
		if (frame)
			add_faults(lines, &n, frame, of_node[node]);
	}
	for (size_t i = 0; i < n; i++)
		if (!most || lines[i].faults > most->faults)
			most = &lines[i];
	if (most) {
		x->faulting.line = most->frame->line;
		done = (x->faulting.file = arena_strdup(&x->e->arena, most->frame->file)) != NULL;
	}
	free(of_node);
	free(lines);
	return done;
}

static bool take_faults(struct explaining *x, const struct named_profile *named)
{
	struct explanation *e = x->e;
	for (size_t i = 0; i < named->by_line.n; i++) {
		const struct named_row *row = &named->by_line.rows[i];
		if (!row->counts[FAULTS].self)
			continue;
		struct explained_fault new = {.line = row->line, .faults = row->counts[FAULTS].self};
		new.function = arena_strdup(&e->arena, row->name);
		new.file = row->file ? arena_strdup(&e->arena, row->file) : NULL;
		if (!new.function || (row->file && !new.file) || !vec_push(&e->faults, new))
			return false;
	}
	if (e->faults.count)
		qsort(e->faults.items, e->faults.count, sizeof *e->faults.items, more_faults);
	return true;
}

/* ---- all of it ---- */

static bool sample(struct watching *w, struct session *s, struct error *err)
{
	struct explaining *x = w->x;
	const struct profiling asked = {.gaps = GAPS_FIXED,
					.gap = 1,
					.stacks = STACKS_DWARF,
					.moments = true,
					.switched = on_switch,
					.switched_context = w,
					.interrupt = x->asked->interrupt};
	struct profile *p = NULL;
	struct named_profile *named = NULL;
	bool done = session_profile(s, &asked, &p, err) && session_name_profile(p, x->e->confidence, &named, err);
	if (done)
		done = (take_samples(w, p) && take_waits(w, named) && take_faults(x, named) &&
			find_faulting(x, named)) ||
		       error_no_memory(err);
	if (done && p->events[SWITCHES].lost)
		done = explaining_note(x->e, NOTE_ACT,
				       arena_printf(&x->e->arena,
						    "Samples of context switches that were lost: %llu. Some waits "
						    "have no stack, or another one.",
						    (unsigned long long)p->events[SWITCHES].lost),
				       err);
	x->e->has_waits = done;
	if (named)
		named_profile_free(named);
	free(named);
	if (p)
		profile_free(p);
	free(p);
	return done;
}

bool explaining_waits(struct explaining *x, struct error *err)
{
	const struct explain_asked *asked = x->asked;
	struct session_target target = {.kind = TARGET_COMMAND, .program = asked->program};
	struct watching w = {.x = x};
	struct session s;
	struct error own = {0};
	struct command command = {.argv = asked->program, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	bool silent;
	if (!session_open(&s, &target, "perf", NULL, 0, err)) {
		session_close(&s);
		return false;
	}
	bool done = true;
	if (!session_add_profile_events(&s, "context-switches,page-faults:u", &own)) {
		/* it may not be sampled here, which is told */
		x->e->why_no_waits = arena_strdup(&x->e->arena, own.text);
		done = x->e->why_no_waits != NULL || error_no_memory(err);
	} else if ((done = explaining_next(x, &command, &silent, err))) {
		s.command.stdin_fd = command.stdin_fd;
		s.command.stdout_fd = command.stdout_fd;
		s.command.stderr_fd = command.stderr_fd;
		s.command.environment = asked->environment;
		done = sample(&w, &s, err);
	}
	if (done && asked->interrupt && *asked->interrupt)
		done = error_set(err, ERROR_SYSTEM, "interrupted");
	vec_free(&w.events);
	vec_free(&w.looks);
	session_close(&s);
	return done;
}

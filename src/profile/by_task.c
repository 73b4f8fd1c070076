#include "profile/by_task.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const char *name) { return name && name[0] ? name : "[unknown]"; }

static bool same_process(const struct profile_task *a, const struct profile_task *b)
{
	return a->run == b->run && a->pid == b->pid;
}

/* Tasks with counts; those of a process are neighbours. */
struct ordered {
	uint32_t *tasks;
	size_t n;
};

/* The thread that a process began with has its number; where that has no counts, it is another of its threads. */
static const struct profile_task *first_thread(const struct profile *p, const struct ordered *order, size_t first)
{
	const struct profile_task *task = &p->tasks[order->tasks[first]];
	for (size_t i = first; i < order->n && same_process(&p->tasks[order->tasks[i]], task); i++)
		if (p->tasks[order->tasks[i]].tid == task->pid)
			return &p->tasks[order->tasks[i]];
	return task;
}

static int by_process(const void *a, const void *b, void *context)
{
	const struct profile *p = context;
	const struct profile_task *x = &p->tasks[*(const uint32_t *)a], *y = &p->tasks[*(const uint32_t *)b];
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool begin_row(struct named_profile *n, struct named_row *row, const struct profile_task *t, bool process)
{
	const struct profile *p = n->profile;
	row->task = t;
	row->counts = arena_alloc(&n->arena, (p->n_events + 1) * sizeof *row->counts);
	row->name = arena_strdup(&n->arena, name_of(t->name));
	row->module = process ? arena_printf(&n->arena, "process %u", t->pid)
			      : arena_printf(&n->arena, "thread %u of process %u", t->tid, t->pid);
	if (!row->counts || !row->name || !row->module)
		return false;
	memset(row->counts, 0, (p->n_events + 1) * sizeof *row->counts);
	return true;
}

static bool begin_rows(struct named_profile *n, const struct ordered *order, uint32_t *threads,
		       uint32_t *processes)
{
	const struct profile *p = n->profile;
	for (size_t i = 0; i < order->n; i++) {
		uint32_t t = order->tasks[i];
		bool first = i == 0 || !same_process(&p->tasks[t], &p->tasks[order->tasks[i - 1]]);
		threads[t] = (uint32_t)n->by_thread.n;
		if (!begin_row(n, &n->by_thread.rows[n->by_thread.n++], &p->tasks[t], false) ||
		    (first &&
		     !begin_row(n, &n->by_process.rows[n->by_process.n++], first_thread(p, order, i), true)))
			return false;
		processes[t] = (uint32_t)n->by_process.n - 1;
	}
	return true;
}

static void put_in_order(const struct profile *p, uint32_t *seen, struct ordered *order)
{
	for (size_t i = 0; i < p->n_cells; i++) {
		uint32_t task = p->cells[i].task;
		if (!seen[task])
			order->tasks[order->n++] = task;
		seen[task] = 1;
	}
	qsort_r(order->tasks, order->n, sizeof *order->tasks, by_process, (void *)(uintptr_t)p);
}

static void count(struct named_count *c, uint64_t more)
{
	c->self += more;
	c->inclusive = c->self;
}

bool by_task_add(struct named_profile *n)
{
	const struct profile *p = n->profile;
	struct ordered order = {.tasks = calloc(p->n_tasks + 1, sizeof *order.tasks)};
	uint32_t *threads = calloc(p->n_tasks + 1, sizeof *threads),
		 *processes = calloc(p->n_tasks + 1, sizeof *processes);
	size_t bytes = (p->n_tasks + 1) * sizeof *n->by_thread.rows;
	bool done = order.tasks && threads && processes && (n->by_thread.rows = arena_alloc(&n->arena, bytes)) &&
		    (n->by_process.rows = arena_alloc(&n->arena, bytes));
	if (done) {
		memset(n->by_thread.rows, 0, bytes);
		memset(n->by_process.rows, 0, bytes);
		put_in_order(p, threads, &order);
		done = begin_rows(n, &order, threads, processes);
	}
	for (size_t i = 0; done && i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		count(&n->by_thread.rows[threads[c->task]].counts[c->event], c->count);
		count(&n->by_process.rows[processes[c->task]].counts[c->event], c->count);
	}
	free(order.tasks);
	free(threads);
	free(processes);
	return done;
}

bool profile_part(const struct profile *whole, uint32_t run, uint32_t pid, uint32_t tid, struct profile **out,
		  struct error *err)
{
	struct profile *p = *out = malloc(sizeof *p);
	if (!p)
		return error_no_memory(err);
	*p = *whole;
	p->arena = (struct arena){0};
	p->notes = NULL;
	p->n_notes = p->n_moments = p->n_arcs = 0;
	p->n_runs = 0; /* it is of one: nothing to compare */
	p->checks_gaps = false;
	p->n_cells = 0;
	p->cells = arena_alloc(&p->arena, (whole->n_cells + 1) * sizeof *p->cells);
	p->events = arena_alloc(&p->arena, (whole->n_events + 1) * sizeof *p->events);
	if (!p->cells || !p->events) {
		profile_free(p);
		free(p);
		*out = NULL;
		return error_no_memory(err);
	}
	memcpy(p->events, whole->events, whole->n_events * sizeof *p->events);
	for (size_t i = 0; i < p->n_events; i++) {
		struct profile_event *e = &p->events[i];
		e->samples = e->lost = e->throttled = e->total = 0;
		e->has_total = e->has_scaled = false;
	}
	for (size_t i = 0; i < whole->n_cells; i++) {
		const struct profile_cell *c = &whole->cells[i];
		const struct profile_task *t = &whole->tasks[c->task];
		if (t->run != run || t->pid != pid || (tid && t->tid != tid))
			continue;
		struct profile_event *e = &p->events[c->event];
		p->cells[p->n_cells++] = *c;
		*(e->gaps == GAPS_NONE ? &e->total : &e->samples) += c->count;
		e->has_total |= e->gaps == GAPS_NONE;
	}
	return true;
}

#include "backend/engine/called.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "engine/inject/injection.h"
#include "engine/wire/called.h"

struct called_row {
	uint32_t number, frames;
	uint64_t calls, ticks;
	uint64_t offsets[RECORD_STACK_FRAMES];
	char *files[RECORD_STACK_FRAMES]; /* of `texts`: the same text is the same pointer */
};

struct called_sum {
	VEC(struct called_row) rows;
	VEC(char *) texts;
	uint64_t lost_calls, lost_ticks;
	bool any;
};

static char *intern(struct called_sum *sum, const char *text)
{
	for (size_t i = 0; i < sum->texts.count; i++)
		if (strcmp(sum->texts.items[i], text) == 0)
			return sum->texts.items[i];
	char *kept = strdup(text);
	if (kept && !vec_push(&sum->texts, kept)) {
		free(kept);
		return NULL;
	}
	return kept;
}

/* By call and stack. */
static int by_stack(const void *a, const void *b)
{
	const struct called_row *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->frames != y->frames)
		return x->frames < y->frames ? -1 : 1;
	for (uint32_t i = 0; i < x->frames; i++) {
		int files = x->files[i] == y->files[i] ? 0 : strcmp(x->files[i], y->files[i]);
		if (files)
			return files;
		if (x->offsets[i] != y->offsets[i])
			return x->offsets[i] < y->offsets[i] ? -1 : 1;
	}
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct called_row *x = a, *y = b;
	return x->ticks != y->ticks ? (x->ticks < y->ticks ? 1 : -1) : by_stack(a, b);
}

static bool add_stack(struct called_sum *sum, const struct record_stack *s, const struct record_module *modules,
		      uint32_t n_modules)
{
	struct called_row row = {.number = s->number, .calls = s->calls, .ticks = s->ticks};
	row.frames = s->frames < RECORD_STACK_FRAMES ? s->frames : RECORD_STACK_FRAMES;
	for (uint32_t i = 0; i < row.frames; i++) {
		char path[sizeof modules->path + 1] = "";
		const struct record_module *m = s->module[i] < n_modules ? &modules[s->module[i]] : NULL;
		if (m)
			memcpy(path, m->path, sizeof m->path);
		for (char *c = path; *c; c++)
			if (*c == '\n' || *c == '\t')
				*c = '?';
		row.offsets[i] = path[0] ? s->at[i] - m->address + m->file_offset : s->at[i];
		if (!(row.files[i] = intern(sum, path)))
			return false;
	}
	return vec_push(&sum->rows, row);
}

/* What a process's threads were in when it ended, as syscalls_sum() has it. */
static void add_last(const struct view_process *p, uint64_t ended, struct record_stack *stacks, uint32_t n)
{
	for (size_t t = 0; t < p->n_threads; t++) {
		const struct record_thread *thread = p->threads[t].record;
		if (thread->call - 1 < RECORD_SYSCALLS && thread->call_began && !p->descendant &&
		    ended > thread->call_began && thread->call_place && thread->call_place <= n) {
			stacks[thread->call_place - 1].calls++;
			stacks[thread->call_place - 1].ticks += ended - thread->call_began;
		}
	}
}

static bool add_process(struct called_sum *sum, const struct view_process *p, uint64_t ended)
{
	struct record_called *head = injection_copy(p->injection, p->record->called, sizeof *head);
	struct record_module *modules = NULL;
	struct record_stack *stacks = NULL;
	bool done = true; /* also of what the program wrote over: nothing of it is told */
	if (!head || head->n_modules > RECORD_CALLED_MODULES || head->n_stacks > RECORD_STACKS ||
	    head->modules > RECORD_FILE_BYTES || head->stacks > RECORD_FILE_BYTES)
		goto out;
	modules = injection_copy(p->injection, p->record->called + head->modules,
				 (uint64_t)head->n_modules * sizeof *modules + 1);
	stacks = injection_copy(p->injection, p->record->called + head->stacks,
				(uint64_t)head->n_stacks * sizeof *stacks + 1);
	if (!modules || !stacks)
		goto out;
	sum->any = true;
	sum->lost_calls += head->lost_calls, sum->lost_ticks += head->lost_ticks;
	add_last(p, ended, stacks, head->n_stacks);
	for (uint32_t i = 0; done && i < head->n_stacks; i++)
		done = stacks[i].calls == 0 || add_stack(sum, &stacks[i], modules, head->n_modules);
out:
	free(head);
	free(modules);
	free(stacks);
	return done;
}

static void write_row(const struct called_row *row, const char *name, const struct syscall_clock *clock,
		      struct str *out)
{
	if (name)
		str_append(out, name);
	else
		syscalls_append_name(row->number, out);
	str_appendf(out, "\t%llu\t%.9f\n", (unsigned long long)row->calls,
		    1e-9 * (double)row->ticks * clock->ns_per_tick);
	for (uint32_t i = 0; i < row->frames; i++)
		str_appendf(out, "\t%llx\t%s\n", (unsigned long long)row->offsets[i], row->files[i]);
}

bool called_write(const struct view *view, bool children, const struct syscall_clock *clock, struct str *out)
{
	struct called_sum sum = {.any = false};
	bool done = true;
	for (size_t i = 0; done && i < view->n_processes; i++) {
		const struct view_process *p = &view->processes[i];
		if (p->record && p->record->called && (!p->descendant || children))
			done = add_process(&sum, p, clock->ended);
	}
	if (done && sum.any) {
		struct called_row *rows = sum.rows.items;
		size_t n = 0;
		if (sum.rows.count)
			qsort(rows, sum.rows.count, sizeof *rows, by_stack);
		for (size_t i = 0; i < sum.rows.count; i++) {
			if (n && by_stack(&rows[n - 1], &rows[i]) == 0)
				rows[n - 1].calls += rows[i].calls, rows[n - 1].ticks += rows[i].ticks;
			else
				rows[n++] = rows[i];
		}
		if (n)
			qsort(rows, n, sizeof *rows, longest_first);
		str_append(out, "\n");
		for (size_t i = 0; i < n; i++)
			write_row(&rows[i], NULL, clock, out);
		const struct called_row lost = {.calls = sum.lost_calls, .ticks = sum.lost_ticks};
		if (lost.calls)
			write_row(&lost, "other", clock, out);
	}
	for (size_t i = 0; i < sum.texts.count; i++)
		free(sum.texts.items[i]);
	vec_free(&sum.texts);
	vec_free(&sum.rows);
	return done && !out->failed;
}

#include "backend/engine/syscalls.h"

#include <stdlib.h>

#include "backend/engine/fold.h"

struct syscall_count {
	unsigned number;
	uint64_t count;
};

static int most_first(const void *a, const void *b)
{
	const struct syscall_count *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

void syscalls_sum(const struct view_process *p, uint64_t calls[RECORD_SYSCALLS + 2])
{
	bool damaged;
	const struct fold_totals *totals = fold_totals_of(p, &damaged);
	for (unsigned i = 0; totals && i < RECORD_SYSCALLS + 2; i++)
		calls[i] += totals->calls[i];
	for (size_t t = 0; t < p->n_threads; t++) {
		const struct record_thread *thread = p->threads[t].record;
		for (unsigned i = 0; i < RECORD_SYSCALLS; i++)
			calls[i] += thread->syscalls[i];
		calls[RECORD_SYSCALLS] += thread->syscalls_other;
		/* it did not come back; those of int 0x80 are counted before */
		if (thread->call && thread->call - 1 < 0xfffffffeu)
			calls[thread->call - 1 < RECORD_SYSCALLS ? thread->call - 1 : RECORD_SYSCALLS]++;
		calls[RECORD_SYSCALLS + 1] += thread->syscalls_32;
	}
}

void syscalls_write(const struct view *view, bool children, struct str *out)
{
	struct syscall_count calls[RECORD_SYSCALLS + 2] = {0};
	uint64_t sums[RECORD_SYSCALLS + 2] = {0};
	for (unsigned i = 0; i < RECORD_SYSCALLS + 2; i++)
		calls[i].number = i;
	for (size_t p = 0; p < view->n_processes; p++) {
		const struct view_process *process = &view->processes[p];
		if (process->descendant && !children)
			continue;
		syscalls_sum(process, sums);
	}
	for (unsigned i = 0; i < RECORD_SYSCALLS + 2; i++)
		calls[i].count = sums[i];
	qsort(calls, RECORD_SYSCALLS + 2, sizeof *calls, most_first);
	str_append(out, "call\tcount\n");
	for (unsigned i = 0; i < RECORD_SYSCALLS + 2 && calls[i].count; i++) {
		unsigned number = calls[i].number;
		if (number >= RECORD_SYSCALLS)
			str_append(out, number == RECORD_SYSCALLS ? "other" : "int 0x80");
		else if (exact_syscall_names[number])
			str_append(out, exact_syscall_names[number]);
		else
			str_appendf(out, "%u", number);
		str_appendf(out, "\t%llu\n", (unsigned long long)calls[i].count);
	}
}

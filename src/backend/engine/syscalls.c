#include "backend/engine/syscalls.h"

#include <stdlib.h>

#include "backend/engine/fold.h"

struct syscall_row {
	unsigned number;
	uint64_t count, ticks;
};

bool syscalls_clock_steady(x86_cpuid *ask)
{
	enum { EXTENDED = 0x80000000u, POWER = 0x80000007u, EAX = 0, EDX = 3, INVARIANT_TSC = 8 };
	uint32_t r[4];
	ask(EXTENDED, 0, r);
	if (r[EAX] < POWER)
		return false;
	ask(POWER, 0, r);
	return r[EDX] >> INVARIANT_TSC & 1;
}

static int most_first(const void *a, const void *b)
{
	const struct syscall_row *x = a, *y = b;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* What lacks a part is not known. */
static void add_ticks(uint64_t *sum, uint64_t more)
{
	uint64_t mark = (*sum | more) & RECORD_UNTIMED;
	*sum = ((*sum & ~RECORD_UNTIMED) + (more & ~RECORD_UNTIMED)) | mark;
}

void syscalls_sum(const struct view_process *p, uint64_t ended, struct syscall_sums *sums)
{
	bool damaged;
	const struct fold_totals *totals = fold_totals_of(p, &damaged);
	for (unsigned i = 0; totals && i < RECORD_SYSCALLS + 2; i++)
		sums->counts[i] += totals->calls.counts[i];
	for (unsigned i = 0; totals && i < RECORD_SYSCALLS; i++)
		add_ticks(&sums->ticks[i], totals->calls.ticks[i]);
	sums->untimed += totals ? totals->calls.untimed : 0;
	for (size_t t = 0; t < p->n_threads; t++) {
		const struct record_thread *thread = p->threads[t].record;
		for (unsigned i = 0; i < RECORD_SYSCALLS; i++) {
			sums->counts[i] += thread->syscalls[i];
			add_ticks(&sums->ticks[i], thread->call_ticks[i]);
		}
		sums->untimed += thread->calls_untimed;
		sums->counts[RECORD_SYSCALLS] += thread->syscalls_other;
		/* it did not come back; those of int 0x80 are counted before */
		uint32_t last = thread->call - 1;
		if (thread->call && last < 0xfffffffeu)
			sums->counts[last < RECORD_SYSCALLS ? last : RECORD_SYSCALLS]++;
		/* when a child of the program's ended is not known */
		bool until_end = !p->descendant && ended > thread->call_began;
		if (thread->call && last < RECORD_SYSCALLS && thread->call_began)
			add_ticks(&sums->ticks[last], until_end ? ended - thread->call_began : RECORD_UNTIMED);
		sums->counts[RECORD_SYSCALLS + 1] += thread->syscalls_32;
	}
}

void syscalls_append_name(unsigned number, struct str *out)
{
	if (number >= RECORD_SYSCALLS)
		str_append(out, number == RECORD_SYSCALLS ? "other" : "int 0x80");
	else if (exact_syscall_names[number])
		str_append(out, exact_syscall_names[number]);
	else
		str_appendf(out, "%u", number);
}

static void sum_all(const struct view *view, bool children, uint64_t ended, struct syscall_sums *sums)
{
	for (size_t p = 0; p < view->n_processes; p++)
		if (!view->processes[p].descendant || children)
			syscalls_sum(&view->processes[p], ended, sums);
}

uint64_t syscalls_untimed(const struct view *view, bool children)
{
	struct syscall_sums sums = {.untimed = 0};
	sum_all(view, children, 0, &sums);
	return sums.untimed;
}

void syscalls_write(const struct view *view, bool children, const struct syscall_clock *clock, struct str *out)
{
	struct syscall_row rows[RECORD_SYSCALLS + 2] = {0};
	struct syscall_sums sums = {.untimed = 0};
	sum_all(view, children, clock->ended, &sums);
	for (unsigned i = 0; i < RECORD_SYSCALLS + 2; i++)
		rows[i] = (struct syscall_row){
			i, sums.counts[i],
			i < RECORD_SYSCALLS && !(sums.ticks[i] & RECORD_UNTIMED) ? sums.ticks[i] : 0};
	qsort(rows, RECORD_SYSCALLS + 2, sizeof *rows, most_first);
	str_append(out, clock->ns_per_tick > 0 ? "call\tcount\tseconds\n" : "call\tcount\n");
	for (unsigned i = 0; i < RECORD_SYSCALLS + 2; i++) {
		if (!rows[i].count)
			continue;
		syscalls_append_name(rows[i].number, out);
		str_appendf(out, "\t%llu", (unsigned long long)rows[i].count);
		if (clock->ns_per_tick > 0 && rows[i].ticks)
			str_appendf(out, "\t%.9f", 1e-9 * (double)rows[i].ticks * clock->ns_per_tick);
		else if (clock->ns_per_tick > 0)
			str_append(out, "\t");
		str_append(out, "\n");
	}
}

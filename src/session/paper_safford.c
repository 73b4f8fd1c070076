/* Safford (1997): two small programs whose counts are known by hand, and a loop before and after the
 * optimiser, by the Pentium's events. wc and compress are in paper_safford_programs.c, what measuring itself
 * costs in paper_safford_overhead.c.
 *
 * The thesis subtracts the overhead of its assembly regions (Table D.2) from what run_p5mon reports, and
 * compares with theory. A region under tare's engine has no overhead to subtract; its kernels have a few
 * instructions of their own, which theory here includes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/paper_safford.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
static const char MACHINE[] = SAFFORD_MACHINE;

static bool count_region(struct paper_work *w, const char *kernel, uint64_t n, const char *const *requests,
			 size_t n_requests, struct paper_count *counts)
{
	return paper_sweep(w, kernel, true, MACHINE, requests, n_requests, &n, 1, counts);
}

static const char *count_cell(struct paper_work *w, const struct paper_count *c)
{
	return c->known ? paper_count_text(w, c->mean) : "not counted";
}

/* What is not counted is told below the table, with its reason. */
static bool tell_uncounted(struct paper_work *w, const struct safford_event *events, size_t n,
			   const struct paper_count *counts)
{
	for (size_t i = 0; i < n; i++)
		if (!counts[i].known && !paper_text(w, "Not counted: %s: %s.", events[i].printed,
						    counts[i].why ? counts[i].why : "not counted"))
			return false;
	return true;
}

/* ---- Tables 5.3 and 5.4 ---- */

struct safford_program {
	const char *table, *kernel;
	uint64_t n;
	const struct safford_event *events;
	const char *const *theory; /* of the kernel, with what it has of its own */
	size_t n_events;
	const char *difference;
};

static const struct safford_event program_1[] = {
	{"Branches", "branches:u"},
	{"BTB Hits", "btb-hits:u"},
	{"Taken Branch or BTB Hit", "taken-branches-or-btb-hits:u"},
	{"Pipeline flushes", "pipeline-flushes:u"},
	{"Instructions Executed", "instructions:u"},
	{"Instructions Executed in v-pipe", "paired-instructions:u"},
};
static const char *const theory_1[] = {"101", "98 or 99", "101", "2 or 3", "307", "~100"};
static const struct safford_event program_2[] = {
	{"Data Read", "data-reads:u"},
	{"Data Read Miss", "l1d-read-misses:u"},
	{"Data Write", "data-writes:u"},
	{"Data Write Miss", "l1d-write-misses:u"},
	{"Data Cache Lines Written Back", "l1d-writebacks:u"},
	{"Misaligned Data Memory Accesses", "misaligned-accesses:u"},
	{"Branches", "branches:u"},
	{"Data Read", "pentium-data-reads:u", "Data Read, with the erratum"},
	{"Data Write", "pentium-data-writes:u", "Data Write, with the erratum"},
};
static const char *const theory_2[] = {"5", "0 to 2", "4", "0", "0 or 1", "6", "5", "8", "7"};

static const struct safford_program programs[] = {
	{"safford-5.3", "program-1", 100, program_1, theory_1, COUNT(program_1),
	 "Ours has a return in the region: one branch more than the thesis's, and two instructions more (an index "
	 "of 64 bits is set "
	 "up otherwise). How many of 100 branches hit the BTB depends on when an entry is made: with the first "
	 "branch taken, 99 find it."},
	{"safford-5.4", "program-2", 3, program_2, theory_2, COUNT(program_2),
	 "The Pentium counted each misaligned access twice (its erratum: 7 for 4). tare counts it once, and twice "
	 "where it is asked to (run_p5mon -Ferrata=yes; the last two rows). Ours has one read for each iteration, "
	 "one of leave, one of the return. Both have 6 misaligned accesses. Whether a line of the stack is "
	 "missing "
	 "depends on what used it before: here the program's start did."},
};

static bool tell_program(struct paper_work *w, const struct safford_program *p)
{
	static const char *const columns[] = {
		"event",        "run_p5mon",    "overhead", "corrected", "theory, paper",
		"theory, here", "counted here", "by",       NULL};
	const char *requests[PAPER_EVENTS_MOST];
	struct paper_count counts[PAPER_EVENTS_MOST];
	struct paper_table t;
	for (size_t i = 0; i < p->n_events; i++)
		requests[i] = p->events[i].request;
	if (!count_region(w, p->kernel, p->n, requests, p->n_events, counts) || !paper_find(w, p->table, &t) ||
	    !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < p->n_events; i++) {
		const char *event = p->events[i].printed;
		const char *cells[] = {p->events[i].shown ? p->events[i].shown : event,
				       paper_cell(&t, event, "run_p5mon"),
				       paper_cell(&t, event, "overhead"),
				       paper_cell(&t, event, "corrected"),
				       paper_cell(&t, event, "theoretical"),
				       p->theory[i],
				       count_cell(w, &counts[i]),
				       counts[i].known ? counts[i].source : "–"};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block && paper_text(w, "%s", p->difference) && tell_uncounted(w, p->events, p->n_events, counts);
}

/* ---- Table 5.1 ---- */

static bool tell_hello(struct paper_work *w)
{
	static const struct safford_event events[] = {
		{"Data read", "data-reads:u"},
		{"Data write", "data-writes:u"},
		{"Branches", "branches:u"},
		{"Instructions Executed", "instructions:u"},
	};
	static const char *const columns[] = {
		"event", "unoptimised, paper", "optimised, paper", "difference, paper", "loop of 10^6, here", "by",
		NULL};
	const char *requests[COUNT(events)];
	struct paper_count counts[COUNT(events)];
	struct paper_table t;
	for (size_t i = 0; i < COUNT(events); i++)
		requests[i] = events[i].request;
	if (!count_region(w, "hello", 1000000, requests, COUNT(events), counts) ||
	    !paper_find(w, "safford-5.1", &t) || !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < COUNT(events); i++) {
		const char *before = paper_cell(&t, events[i].printed, "unoptimised"),
			   *after = paper_cell(&t, events[i].printed, "optimised");
		if (!before || !after)
			continue;
		const char *cells[] = {events[i].printed,
				       before,
				       after,
				       paper_count_text(w, paper_number(before) - paper_number(after)),
				       count_cell(w, &counts[i]),
				       counts[i].known ? counts[i].source : "–"};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block && paper_text(w, "An iteration without the optimiser has 4 instructions, 3 reads, 2 writes "
				      "and a branch (kernels/hello.S); the "
				      "optimiser keeps both variables in registers. The thesis's numbers are of "
				      "the whole process, ours of the loop.");
}

/* Tables 2.1 to 2.3 and 3.1 to 3.5. */
static bool tell_what_is_not_counted(struct paper_work *w)
{
	return paper_heading(w, "Tables 2.1 to 2.3 and 3.1 to 3.5", "registers, modes, names and types") &&
	       paper_text(
		       w,
		       "They print no counts. Their events (2.3, 3.2), levels (2.2, 3.3), initial values (3.1, "
		       "3.4) and the structure's fields (3.5) are those of tare's libp5mon.h; 'tare list events "
		       "p5mon:' says what each event is here. The registers (2.1) have no counterpart: the "
		       "kernel sets them.");
}

bool paper_safford(struct paper_work *w)
{
	w->all = COUNT(programs) + 1 + SAFFORD_PROGRAMS + SAFFORD_OVERHEADS;
	bool done = paper_text(
		w, "Theirs: a Pentium of 100 MHz, Linux 2.0, run_p5mon. Ours: the same programs for x86-64; "
		   "instructions, branches and accesses are "
		   "counted by the engine, caches and branch prediction by the Pentium as tare models it.");
	for (size_t i = 0; done && i < COUNT(programs); i++)
		done = tell_program(w, &programs[i]);
	return done && tell_hello(w) && safford_programs(w) && safford_overheads(w) && tell_what_is_not_counted(w);
}

/* Safford 1997, appendix D: what measuring itself counts, of a whole process (Table D.1) and of a region
 * (Table D.2), by all events of the Pentium. */
#include <stdio.h>
#include <string.h>

#include "session/paper_safford.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* In the order of the printed tables; D.2 has no clock. */
static const struct safford_event events[] = {
	{"data read", "data-reads:u"},
	{"data write", "data-writes:u"},
	{"data read or write", "data-accesses:u"},
	{"data TLB miss", "dtlb-misses:u"},
	{"data read miss", "l1d-read-misses:u"},
	{"data write miss", "l1d-write-misses:u"},
	{"data read or write miss", "l1d-misses:u"},
	{"write (hit) to M or E state lines", "l1d-write-hits-owned:u"},
	{"data cache lines written back", "l1d-writebacks:u"},
	{"external snoops", "bus-snoops:u"},
	{"data cache snoop hits", "l1d-snoop-hits:u"},
	{"memory access in both pipes", "paired-data-accesses:u"},
	{"bank conflicts", "l1d-bank-conflicts:u"},
	{"misaligned data memory or I/O references", "pentium-misaligned-accesses:u"},
	{"code read", "l1i-loads:u"},
	{"code TLB miss", "itlb-misses:u"},
	{"code cache miss", "l1i-load-misses:u"},
	{"any segment register loaded", "segment-loads:u"},
	{"branches", "branches:u"},
	{"BTB hits", "btb-hits:u"},
	{"taken branch or BTB hit", "taken-branches-or-btb-hits:u"},
	{"pipeline flushes", "pipeline-flushes:u"},
	{"instructions executed", "instructions:u"},
	{"instructions executed in the v-pipe", "paired-instructions:u"},
	{"clocks while a bus cycle is in progress", "bus-busy-cycles:u"},
	{"number of clocks stalled due to full write buffers", "store-buffer-stall-cycles:u"},
	{"pipeline stalled waiting for data memory read", "load-stall-cycles:u"},
	{"stall on write to an E or M state line", "owned-write-stall-cycles:u"},
	{"locked bus cycle", "locked-instructions:u"},
	{"I/O read or write cycle", "io-cycles:u"},
	{"non-cacheable memory reads", "non-cacheable-reads:u"},
	{"pipeline stalled because of an address generation interlock", "address-stall-cycles:u"},
	{"floating point operations (FLOPs)", "pentium-flops:u"},
	{"breakpoint match on DR0 register", "breakpoint-matches:u"},
	{"hardware interrupts", "hardware-interrupts:u"},
	{"clock cycles", "cycles:u"},
};
enum { EVENTS = COUNT(events), REGION_EVENTS = EVENTS - 1 };
_Static_assert((int)EVENTS <= (int)PAPER_SPLITS_MOST, "paper_split() takes all");

/* DR1 to DR3 are of the same event. */
static const char *const same[] = {"breakpoint match on DR1 register", "breakpoint match on DR2 register",
				   "breakpoint match on DR3 register"};

static bool is_breakpoint(const struct safford_event *event)
{
	return strcmp(event->request, "breakpoint-matches:u") == 0;
}

static const char *count_cell(struct paper_work *w, const struct paper_split *c, double value)
{
	return c->known ? paper_count_text(w, value) : "not counted";
}

/* ---- Table D.1 ---- */

static bool tell_process_row(struct paper_work *w, struct paper_block *block, const struct paper_table *t,
			     const char *row, const struct paper_split *c)
{
	const char *cells[] = {row,
			       paper_cell(t, row, "user"),
			       paper_cell(t, row, "user and kernel"),
			       count_cell(w, c, c->own),
			       count_cell(w, c, c->all - c->own),
			       count_cell(w, c, c->all),
			       c->known ? c->source : "–"};
	return paper_row_of(w, block, cells);
}

static const struct paper_split *instructions_of(const struct paper_split *counts)
{
	size_t i = 0;
	while (strcmp(events[i].request, "instructions:u") != 0)
		i++;
	return &counts[i];
}

static bool tell_process(struct paper_work *w)
{
	static const char *const columns[] = {"event",
					      "user, paper",
					      "user and kernel, paper",
					      "program only, here",
					      "libraries, here",
					      "user, here",
					      "by",
					      NULL};
	const char *argv[] = {paper_program(w, "empty-program"), NULL};
	struct paper_split counts[EVENTS];
	const struct paper_split *instructions = instructions_of(counts);
	struct paper_table t;
	if (!argv[0] || !safford_split(w, "process", events, EVENTS, argv, NULL, NULL, counts) ||
	    !paper_find(w, "safford-d.1", &t) || !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t i = 0; done && i < EVENTS; i++) {
		done = tell_process_row(w, block, &t, events[i].printed, &counts[i]);
		for (size_t k = 0; done && is_breakpoint(&events[i]) && k < COUNT(same); k++)
			done = tell_process_row(w, block, &t, same[k], &counts[i]);
	}
	return done &&
	       paper_text(w,
			  "Ours is an empty C program of this machine (kernels/empty-program.c), on tare's "
			  "Pentium; %.2f %% of its instructions are the "
			  "dynamic linker's and the C library's. They are %s, theirs 803,766.2: the linker and "
			  "the library of 1997 executed more "
			  "for the same. The kernel's part cannot be modelled.",
			  100 * (instructions->all - instructions->own) / instructions->all,
			  count_cell(w, instructions, instructions->all)) &&
	       safford_uncounted(w, events, EVENTS, counts);
}

/* ---- Table D.2 ---- */

static bool count_region(struct paper_work *w, const char *program, int times, struct paper_count *counts)
{
	const char *requests[REGION_EVENTS];
	struct paper_counter counter;
	char number[24];
	const char *argv[] = {program, number, NULL};
	snprintf(number, sizeof number, "%d", times);
	for (size_t i = 0; i < REGION_EVENTS; i++)
		requests[i] = events[i].request;
	if (w->asked->progress)
		w->asked->progress(w->asked->progress_context, "region", w->done++, w->all);
	bool done = paper_counter_open(w, &counter, SAFFORD_MACHINE, requests, REGION_EVENTS) &&
		    paper_count_own_region(w, &counter, argv, counts);
	paper_counter_close(&counter);
	return done;
}

static bool tell_region_row(struct paper_work *w, struct paper_block *block, const struct paper_table *t,
			    const char *row, const struct paper_count *once, const struct paper_count *often,
			    double more)
{
	const char *cells[] = {row,
			       paper_cell(t, row, "first time, user"),
			       paper_cell(t, row, "in cache, user"),
			       paper_cell(t, row, "first time, both"),
			       paper_cell(t, row, "in cache, both"),
			       once->known ? paper_count_text(w, once->mean) : "not counted",
			       often->known ? paper_count_text(w, (often->mean - once->mean) / more)
					    : "not counted",
			       once->known ? once->source : "–"};
	return paper_row_of(w, block, cells);
}

static bool tell_region(struct paper_work *w)
{
	enum { MORE = 1000 };
	static const char *const columns[] = {"event",
					      "first time, user, paper",
					      "in cache, user, paper",
					      "first time, both, paper",
					      "in cache, both, paper",
					      "first time, user, here",
					      "in cache, user, here",
					      "by",
					      NULL};
	struct paper_count once[REGION_EVENTS], often[REGION_EVENTS];
	struct paper_table t;
	const char *program = paper_program(w, "region-overhead");
	if (!program || !count_region(w, program, 1, once) || !count_region(w, program, 1 + MORE, often) ||
	    !paper_find(w, "safford-d.2", &t) || !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL, nothing = true;
	for (size_t i = 0; done && i < REGION_EVENTS; i++) {
		nothing &= !once[i].known || (once[i].mean == 0 && often[i].mean == 0);
		done = tell_region_row(w, block, &t, events[i].printed, &once[i], &often[i], MORE);
		for (size_t k = 0; done && is_breakpoint(&events[i]) && k < COUNT(same); k++)
			done = tell_region_row(w, block, &t, same[k], &once[i], &often[i], MORE);
	}
	return done &&
	       paper_text(w,
			  "Ours is an empty region by the assembly stubs (tare_asm_begin_0, tare_asm_end_0), "
			  "entered once, and %d times: what "
			  "is more, divided by %d, is 'in cache'. The stubs read no counters under the engine: it "
			  "sees where they are called, "
			  "and leaves out what they execute. %s",
			  1 + MORE, MORE,
			  nothing ? "So the region's own overhead is 0 of each event, and Tables 5.3 and 5.4 have "
				    "nothing to subtract."
				  : "What the region counts of itself is in the table.") &&
	       paper_text(w, "The kernel's part of theirs cannot be modelled. On a machine with counters 'tare "
			     "calibrate' measures what a region "
			     "counts of itself, and reports subtract it.");
}

bool safford_overheads(struct paper_work *w) { return tell_process(w) && tell_region(w); }

/* Safford 1997, sections 5.6 and 5.7: wc and compress, real programs with a library (kernels/wc.c,
 * kernels/compress.c). */
#include <stdio.h>
#include <string.h>

#include "session/paper_safford.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { LINES = 4036, CHARACTERS = 105196, COMPRESSED = 2000000, COMPRESSED_QUICK = 100000, EVENTS_MOST = 24 };

bool safford_split(struct paper_work *w, const char *name, const struct safford_event *events, size_t n,
		   const char *const *argv, const char *region, const char *function, struct paper_split *out)
{
	const char *requests[PAPER_SPLITS_MOST];
	for (size_t i = 0; i < n; i++)
		requests[i] = events[i].request;
	if (w->asked->progress)
		w->asked->progress(w->asked->progress_context, name, w->done++, w->all);
	return paper_split(w, SAFFORD_MACHINE, requests, n, argv, region, function, out);
}

static bool same_reason(const struct paper_split *a, const struct paper_split *b)
{
	return !a->known && !b->known && strcmp(a->why, b->why) == 0;
}

bool safford_uncounted(struct paper_work *w, const struct safford_event *events, size_t n,
		       const struct paper_split *counts)
{
	for (size_t i = 0; i < n; i++) {
		const char *names = events[i].printed;
		bool told = counts[i].known;
		for (size_t k = 0; k < i; k++)
			told |= same_reason(&counts[k], &counts[i]);
		for (size_t k = i + 1; !told && k < n; k++)
			if (same_reason(&counts[i], &counts[k]))
				names = paper_printf(w, "%s, %s", names, events[k].printed);
		if (!told && !paper_text(w, "Not counted: %s: %s.", names, counts[i].why))
			return false;
	}
	return true;
}

/* ---- wc ---- */

static const struct safford_event wc_events[] = {
	{"Data read", "data-reads:u"},
	{"Data read miss", "l1d-read-misses:u"},
	{"Data write", "data-writes:u"},
	{"Data write miss", "l1d-write-misses:u"},
	{"Lines written back", "l1d-writebacks:u"},
	{"Total instructions executed", "instructions:u"},
};

static bool tell_wc(struct paper_work *w, const char *const *argv)
{
	static const char *const columns[] = {"event",
					      "simulator, paper",
					      "counters, paper",
					      "difference, paper",
					      "program only, here",
					      "with libraries, here",
					      "difference, here",
					      "by",
					      NULL};
	struct paper_split counts[COUNT(wc_events)];
	struct paper_table t;
	if (!safford_split(w, "wc", wc_events, COUNT(wc_events), argv, "kernel_body", NULL, counts) ||
	    !paper_find(w, "safford-5.5", &t) || !paper_printed(w, &t) || !paper_find(w, "safford-5.6", &t) ||
	    !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < COUNT(wc_events); i++) {
		const char *event = wc_events[i].printed;
		const struct paper_split *c = &counts[i];
		const char *cells[] = {event,
				       paper_cell(&t, event, "simulator"),
				       paper_cell(&t, event, "counters"),
				       paper_cell(&t, event, "difference"),
				       c->known ? paper_count_text(w, c->own) : "not counted",
				       c->known ? paper_count_text(w, c->all) : "not counted",
				       c->known ? paper_count_text(w, c->all - c->own) : "–",
				       c->known ? c->source : "–"};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block &&
	       paper_text(w,
			  "Ours is kernels/wc.c by this machine's compiler, over a text of as many lines and "
			  "characters; what the library "
			  "executes for it is getc's refills of the buffer and printf. Theirs had more of it: "
			  "their difference also has the kernel's "
			  "part of each read. Accesses are per character: theirs %.1f reads and %.1f writes, "
			  "ours %.1f and %.1f. "
			  "The compiler decides which of the three sums stay in registers.",
			  441127.0 / CHARACTERS, 230755.0 / CHARACTERS, counts[0].own / CHARACTERS,
			  counts[2].own / CHARACTERS) &&
	       paper_text(w, "Their simulator saw the program's accesses alone, 138 misses; ours are the misses "
			     "of the program's own accesses in a "
			     "cache that the library also uses. On the machine they were 1,726.8: the kernel's "
			     "copy of what is read took "
			     "lines away, which no model of a user's program has.") &&
	       safford_uncounted(w, wc_events, COUNT(wc_events), counts);
}

static bool tell_loop(struct paper_work *w, const char *const *argv)
{
	enum { BRANCHES, HITS, INSTRUCTIONS, PAIRED };
	static const struct safford_event events[] = {
		[BRANCHES] = {"average total branches per loop iteration", "branches:u"},
		[HITS] = {"average total BTB hits per loop iteration", "btb-hits:u"},
		[INSTRUCTIONS] = {"instructions executed in each loop iteration", "instructions:u"},
		[PAIRED] = {"instructions executed in the v-pipe in each loop iteration", "paired-instructions:u"},
	};
	static const char *const columns[] = {"event", "paper", "here", "by", NULL};
	struct paper_split counts[COUNT(events)];
	struct paper_table t;
	if (!safford_split(w, "wc", events, COUNT(events), argv, "kernel_count", "kernel_count", counts) ||
	    !paper_find(w, "safford-5.7", &t) || !paper_heading(w, t.number, t.title))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	const char *times[] = {t.cells[0][0], t.cells[0][1], paper_count_text(w, CHARACTERS), "arithmetic"};
	bool done = block && paper_row_of(w, block, times);
	for (size_t i = 0; done && i < COUNT(events); i++) {
		const struct paper_split *c = &counts[i];
		const char *cells[] = {events[i].printed, paper_cell(&t, events[i].printed, "value"),
				       c->known ? paper_printf(w, "%.2f", c->own / CHARACTERS) : "not counted",
				       c->known ? c->source : "–"};
		done = paper_row_of(w, block, cells);
	}
	return done &&
	       paper_text(w,
			  "The loop's own code, once a character; theirs went round two times more. They had %.1f "
			  "branches an iteration that the BTB "
			  "did not have, we have %.1f: a branch gets its entry when it is taken, and which ones "
			  "are taken is the compiler's choice.",
			  5.5 - 3, (counts[BRANCHES].own - counts[HITS].own) / CHARACTERS) &&
	       safford_uncounted(w, events, COUNT(events), counts);
}

/* ---- compress ---- */

static const struct safford_event compress_events[] = {
	{"Data read", "data-reads:u"},
	{"Data read miss", "l1d-read-misses:u"},
	{"Data write", "data-writes:u"},
	{"Data write miss", "l1d-write-misses:u"},
	{"Data cache lines written back", "l1d-writebacks:u"},
	{"Data TLB miss", "dtlb-misses:u"},
	{"Memory accesses in both pipes", "paired-data-accesses:u"},
	{"Bank conflicts", "l1d-bank-conflicts:u"},
	{"Misaligned data memory or I/O references", "pentium-misaligned-accesses:u"},
	{"Pipeline stalled waiting for data memory read", "load-stall-cycles:u"},
	{"Pipeline stalled due to address generation interlock", "address-stall-cycles:u"},
	{"Number of clock cycles stalled due to full write buffers", "store-buffer-stall-cycles:u"},
	{"Stall on write to an E or M state line", "owned-write-stall-cycles:u"},
	{"Code read", "l1i-loads:u"},
	{"Code TLB miss", "itlb-misses:u"},
	{"Code cache miss", "l1i-load-misses:u"},
	{"Branches", "branches:u"},
	{"BTB Hits", "btb-hits:u"},
	{"Pipeline flushes", "pipeline-flushes:u"},
	{"Instructions executed", "instructions:u"},
	{"Instructions executed in v-pipe", "paired-instructions:u"},
	{"Clock cycles", "cycles:u"},
};

static const char *share_text(struct paper_work *w, double count, double instructions)
{
	double share = 1000 * count / instructions;
	return share == 0 ? "0" : paper_printf(w, share < 0.1 ? "%.2g" : "%.1f", share);
}

static bool tell_compress(struct paper_work *w)
{
	static const char *const columns[] = {
		"event", "paper", "of 1000 instructions, paper", "here", "of 1000 instructions, here", "by", NULL};
	struct paper_split counts[COUNT(compress_events)];
	struct paper_table t;
	char number[24];
	const char *program = paper_program(w, "compress-region");
	const char *argv[] = {program, number, NULL};
	int characters = w->asked->quick ? COMPRESSED_QUICK : COMPRESSED;
	snprintf(number, sizeof number, "%d", characters);
	if (!program ||
	    !safford_split(w, "compress", compress_events, COUNT(compress_events), argv, "kernel_body", NULL,
			   counts) ||
	    !paper_find(w, "safford-5.8", &t) || !paper_heading(w, t.number, t.title))
		return false;
	double theirs = paper_number(paper_cell(&t, "Instructions executed", "value")), ours = 0;
	for (size_t i = 0; i < COUNT(compress_events); i++)
		if (strcmp(compress_events[i].printed, "Instructions executed") == 0)
			ours = counts[i].all;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < COUNT(compress_events); i++) {
		const char *cell = paper_cell(&t, compress_events[i].printed, "value");
		const struct paper_split *c = &counts[i];
		const char *cells[] = {compress_events[i].printed,
				       cell,
				       share_text(w, paper_number(cell), theirs),
				       c->known ? paper_count_text(w, c->all) : "not counted",
				       c->known ? share_text(w, c->all, ours) : "–",
				       c->known ? c->source : "–"};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block &&
	       paper_text(w,
			  "Theirs is SPEC95's compress with its input, 20 minutes of a whole process. Ours is the "
			  "same algorithm over %s "
			  "characters of text (kernels/compress.c), its coding loop alone; so shares of the "
			  "instructions are compared, not "
			  "counts. SPEC95's also decodes, and has a main program and a library around it: the "
			  "table that is missed has a larger share in ours.",
			  paper_count_text(w, characters)) &&
	       safford_uncounted(w, compress_events, COUNT(compress_events), counts);
}

bool safford_programs(struct paper_work *w)
{
	char lines[24];
	const char *program = paper_program(w, "wc-region"), *argv[] = {program, lines, NULL};
	snprintf(lines, sizeof lines, "%d", LINES);
	return program && tell_wc(w, argv) && tell_loop(w, argv) && tell_compress(w);
}

#include "explain/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What a rule takes for "most of them", "follows a stride", "follows none" */
static const double MOST = 0.5, REGULAR = 0.5, IRREGULAR = 0.2;
/* Of the bytes of a line, used: less is a field of a struct rather than the struct. */
static const double FEW_BYTES = 0.25;
/* A new page for each so many new lines: a stride of a quarter of a page, or no order. */
static const double MANY_PAGES = 0.25;
/* Turns that a predictor's history can hold are predicted; and so short a loop can be unrolled. */
static const double SHORT_TURNS = 16;
/* A branch that goes either way as often goes by data, wherever compilers put its two sides. */
static const double LEAST_TURNS = 2.5;
static const double OFTEN_MISPREDICTED = 0.1;
/* Memory that was faulted in, of what the program ever had at once: more is the same memory again. */
static const double AGAIN = 2;

struct giving {
	struct explanation *e;
	const struct evidence_rows *evidence;
	const struct advice_facts *facts;
	const struct evidence_row *row;
	double whole, busy; /* what shares are of; the CPU's part of it, which counts are compared with */
	bool failed;
};

enum { COUNT_BYTES = 32 };

/* "1,234,567" */
static const char *grouped(double count, char text[COUNT_BYTES])
{
	char digits[COUNT_BYTES];
	int n = snprintf(digits, sizeof digits, "%.0f", fmin(count, 1e18)), at = 0;
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}
#define GROUPED(count) grouped(count, (char[COUNT_BYTES]){0})

static double typical_of(const struct giving *g, enum cost_operation operation)
{
	const struct cost *cost = g->facts->costs ? &g->facts->costs->of[operation] : NULL;
	if (!cost || !cost->known)
		return NAN;
	return !isnan(cost->typical) ? cost->typical : !isnan(cost->most) ? cost->most : cost->least;
}

static double count_of(const struct giving *g, enum evidence kind)
{
	return evidence_count(g->evidence, g->row, kind);
}

/* False for NAN, too. */
static bool is_worth(double seconds, double of)
{
	return seconds >= ADVICE_SHARE * of && seconds >= ADVICE_SECONDS;
}

static void give(struct giving *g, const char *rule, double seconds, const char *text, const char *evidence)
{
	struct arena *arena = &g->e->arena;
	struct explained_advice new = {
		.rule = rule, .seconds = seconds, .share = seconds / g->whole, .text = text};
	new.evidence = evidence;
	if (g->row) {
		new.line = g->row->line;
		new.file = g->row->file ? arena_strdup(arena, g->row->file) : NULL;
		new.function = *g->row->function ? arena_strdup(arena, g->row->function) : NULL;
	}
	if (!text || !evidence ||
	    (g->row && ((*g->row->function && !new.function) || (g->row->file && !new.file))) ||
	    !vec_push(&g->e->advice, new))
		g->failed = true;
}

/* ---- memory ---- */

/* An access that missed the level (1 or 2) and had its line from behind. */
static double behind(const struct giving *g, unsigned level)
{
	return level >= g->facts->levels ? typical_of(g, OPERATION_MEMORY)
	       : level == 1              ? typical_of(g, OPERATION_L2_HIT)
					 : typical_of(g, OPERATION_L3_HIT);
}

static bool conflicts(struct giving *g, unsigned level)
{
	double misses = count_of(g, level == 1 ? EVIDENCE_L1_MISSES : EVIDENCE_L2_MISSES),
	       of = count_of(g, level == 1 ? EVIDENCE_L1_CONFLICTS : EVIDENCE_L2_CONFLICTS),
	       seconds = of * behind(g, level), way = g->facts->way_bytes[level - 1];
	if (!(of >= MOST * misses) || !is_worth(seconds, g->busy) || !(way > 0))
		return false;
	give(g, "conflict-misses", seconds,
	     arena_printf(
		     &g->e->arena,
		     "Pad the rows or arrays that are used together: their distance is a multiple of %s bytes or "
		     "near it, so their lines drive each other out of L%u.",
		     GROUPED(way), level),
	     arena_printf(&g->e->arena,
			  "%s of %s L%u misses here are conflicts: a fully associative cache of that size would "
			  "have had "
			  "the line.",
			  GROUPED(of), GROUPED(misses), level));
	return true;
}

/* Of new lines, those that follow a stride; NAN: not known. */
static double regular(const struct giving *g)
{
	double used = count_of(g, EVIDENCE_STRIDE_USED), missed = count_of(g, EVIDENCE_STRIDE_MISSES);
	return used + missed > 0 ? used / (used + missed) : NAN;
}

static double miss_seconds(const struct giving *g)
{
	double at[3] = {count_of(g, EVIDENCE_L1_MISSES), count_of(g, EVIDENCE_L2_MISSES),
			count_of(g, EVIDENCE_L3_MISSES)};
	double seconds = 0;
	for (unsigned level = 1; level <= g->facts->levels; level++) {
		double next = level < g->facts->levels ? at[level] : 0;
		double served = fmax(at[level - 1] - next, 0);
		if (isnan(at[level - 1]) || isnan(next))
			return NAN;
		seconds += served > 0 ? served * behind(g, level) : 0;
	}
	return seconds;
}

/* A page for each new line, or for a few. */
static bool pages(struct giving *g)
{
	const struct advice_facts *f = g->facts;
	double misses = count_of(g, EVIDENCE_TLB_MISSES), walks = count_of(g, EVIDENCE_TLB_WALKS),
	       lines = count_of(g, EVIDENCE_L1_MISSES), share = regular(g), lost = miss_seconds(g);
	double seconds = (misses > walks ? (misses - walks) * typical_of(g, OPERATION_TLB_HIT) : 0) +
			 (walks > 0 ? walks * typical_of(g, OPERATION_TLB_WALK) : 0);
	if (!(misses >= MANY_PAGES * lines) || !(f->tlb_entries > 0))
		return false;
	const char *evidence = arena_printf(
		&g->e->arena,
		"%s accesses missed the first TLB (%s pages of %s bytes), and %s of them needed a "
		"page walk; %s missed L1. %.0f %% of these follow a stride.",
		GROUPED(misses), GROUPED(f->tlb_entries), GROUPED(f->page_bytes), GROUPED(walks), GROUPED(lines),
		100 * share);
	/* along the memory, there would be a miss for each line's bytes only */
	if (share >= REGULAR && is_worth(seconds + (isnan(lost) ? 0 : lost), g->busy))
		give(g, "stride-of-pages", seconds + (isnan(lost) ? 0 : lost),
		     "Interchange the loops, so that the inner one goes along the memory: each step goes to "
		     "another page, "
		     "and neither the TLB nor L1 has it when it comes again.",
		     evidence);
	else if (share <= IRREGULAR && is_worth(seconds, g->busy))
		give(g, "pages-in-no-order", seconds,
		     "Make the data smaller, or ask for huge pages (madvise(2), MADV_HUGEPAGE): accesses in no "
		     "order go "
		     "to more pages than the TLB has.",
		     evidence);
	else
		return false;
	return true;
}

static void fields(struct giving *g)
{
	double lines = count_of(g, EVIDENCE_L1_MISSES), conflicting = count_of(g, EVIDENCE_L1_CONFLICTS),
	       bytes = (count_of(g, EVIDENCE_READ_BYTES) + count_of(g, EVIDENCE_WRITTEN_BYTES)) / lines,
	       seconds = miss_seconds(g), share = regular(g);
	if (!is_worth(seconds, g->busy) || !(bytes <= FEW_BYTES * g->facts->line_bytes) || !(share >= REGULAR) ||
	    !(conflicting < MOST * lines))
		return;
	give(g, "one-field", seconds,
	     "Keep the field in an array of its own (a shadow array), if it is one of a larger struct: most of "
	     "each line "
	     "that comes is not used.",
	     arena_printf(&g->e->arena,
			  "%.3g bytes are used of each line of %.0f bytes; L1 took %s lines here, %.0f %% of them "
			  "along a "
			  "stride.",
			  bytes, g->facts->line_bytes, GROUPED(lines), 100 * share));
}

static void sharing(struct giving *g)
{
	double lost = count_of(g, EVIDENCE_FALSE_SHARING),
	       seconds = lost * behind(g, g->facts->levels > 2 ? 2 : g->facts->levels);
	if (!is_worth(seconds, g->busy))
		return;
	give(g, "false-sharing", seconds,
	     arena_printf(&g->e->arena,
			  "Give each thread's data a line of its own (pad it to %.0f bytes): threads write to "
			  "different "
			  "bytes of the same line.",
			  g->facts->line_bytes),
	     arena_printf(&g->e->arena,
			  "%s accesses missed because another thread had written to other bytes of the line.",
			  GROUPED(lost)));
}

/* ---- branches ---- */

static void branch(struct giving *g)
{
	double all = count_of(g, EVIDENCE_CONDITIONAL), taken = count_of(g, EVIDENCE_TAKEN),
	       missed = count_of(g, EVIDENCE_MISPREDICTED), fixed = count_of(g, EVIDENCE_STATIC_MISSES),
	       left = all - taken, seconds = missed * typical_of(g, OPERATION_BRANCH_MISS);
	if (!is_worth(seconds, g->busy) || !(all > 0))
		return;
	/* "backward taken" is wrong when a backward branch is not taken, and when a forward one is */
	bool loop = fabs(fixed - left) < fabs(fixed - taken) && all >= LEAST_TURNS * left;
	if (loop && left > 0 && all / left <= SHORT_TURNS && missed >= MOST * fmin(left, taken))
		give(g, "short-loop", seconds,
		     arena_printf(&g->e->arena,
				  "Unroll the loop, or give it a fixed number of turns: it has %.1f turns in the "
				  "mean, and "
				  "the predictor does not know when it ends.",
				  all / left),
		     arena_printf(&g->e->arena,
				  "%s of %s executions of its branch were mispredicted; it was left %s times.",
				  GROUPED(missed), GROUPED(all), GROUPED(left)));
	else if (!loop && missed >= OFTEN_MISPREDICTED * all)
		give(g, "unpredictable-branch", seconds,
		     "Replace the branch by arithmetic or a conditional move, or sort the data: which way it goes "
		     "depends "
		     "on data without a pattern.",
		     arena_printf(&g->e->arena, "%s of %s executions (%.0f %%) were mispredicted.",
				  GROUPED(missed), GROUPED(all), 100 * missed / all));
}

/* ---- of the whole program ---- */

static double cause_seconds(const struct explanation *e, enum cause cause)
{
	return e->causes[cause].known ? e->causes[cause].seconds.typical : NAN;
}

static void faults(struct giving *g)
{
	const struct explained_cause *cause = &g->e->causes[CAUSE_FAULTS];
	double seconds = cause_seconds(g->e, CAUSE_FAULTS), page = g->facts->page_bytes,
	       most = g->facts->resident_most_bytes;
	if (!is_worth(seconds, g->busy) || cause->n_parts == 0 || isnan(most))
		return;
	double count = cause->parts[0].count;
	const char *evidence = arena_printf(&g->e->arena,
					    "%s page faults, for %.1f MB; at most %.1f MB were in use at once.",
					    GROUPED(count), count * page / 1e6, most / 1e6);
	if (count * page > AGAIN * most)
		give(g, "memory-again", seconds,
		     "Reuse the memory instead of giving it back: the kernel clears and maps the same pages again "
		     "and again.",
		     evidence);
	else
		give(g, "first-touch", seconds,
		     "Touch less memory, or ask for huge pages (madvise(2), MADV_HUGEPAGE): the time is that of "
		     "first "
		     "touches.",
		     evidence);
}

static void locks(struct giving *g)
{
	double seconds = cause_seconds(g->e, CAUSE_LOCKS);
	if (is_worth(seconds, g->whole))
		give(g, "lock-waiting", seconds,
		     "Hold the lock for a shorter time, or divide what it protects: threads wait for each other.",
		     arena_printf(&g->e->arena,
				  "Threads waited %.3g s for locks, of %.3g s of all threads together.", seconds,
				  g->whole));
}

static int by_time(const void *a, const void *b)
{
	const struct explained_advice *x = a, *y = b;
	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static double whole_of(const struct explanation *e) { return e->has_measured ? e->total_s : e->sum_typical; }
static double busy_of(const struct explanation *e) { return e->has_measured ? e->cpu_s : e->sum_typical; }

struct evidence_wish advice_wish(const struct explanation *e, unsigned levels)
{
	double least = fmax(ADVICE_SHARE * busy_of(e), ADVICE_SECONDS), data = 0;
	struct evidence_wish wish = {.levels = levels};
	for (unsigned c = CAUSE_L2; c <= CAUSE_MEMORY; c++)
		data += e->causes[c].known ? cause_seconds(e, (enum cause)c) : 0;
	wish.caches = data >= least;
	wish.tlb = cause_seconds(e, CAUSE_TLB) >= least;
	wish.branches = cause_seconds(e, CAUSE_BRANCHES) >= least;
	wish.sharing = wish.caches && (!e->has_measured || e->threads_most > 1);
	return wish;
}

bool advice_give(struct explanation *e, const struct evidence_rows *evidence, const struct advice_facts *facts,
		 struct error *err)
{
	struct giving g = {.e = e, .evidence = evidence, .facts = facts, .whole = whole_of(e), .busy = busy_of(e)};
	for (size_t i = 0; i < evidence->rows.count; i++) {
		g.row = &evidence->rows.items[i];
		bool packed = conflicts(&g, 1) || conflicts(&g, 2);
		if (!pages(&g) && !packed)
			fields(&g);
		sharing(&g);
		branch(&g);
	}
	g.row = NULL;
	faults(&g);
	locks(&g);
	if (e->advice.count)
		qsort(e->advice.items, e->advice.count, sizeof *e->advice.items, by_time);
	return !g.failed || error_no_memory(err);
}

/* Advice on caches, TLBs and lines that threads share. See advice.h. */
#include <math.h>

#include "explain/advice_rules.h"

/* What a rule takes for "follows a stride", "follows none" */
static const double REGULAR = 0.5, IRREGULAR = 0.2;
/* Of the bytes of a line, used: less is a field of a struct rather than the struct. */
static const double FEW_BYTES = 0.25;
/* A new page for each so many new lines: a stride of a quarter of a page, or no order. */
static const double MANY_PAGES = 0.25;

/* An access that missed the level (1 or 2) and had its line from behind. */
static double behind(const struct giving *g, unsigned level)
{
	return level >= g->facts->levels ? advice_typical(g, OPERATION_MEMORY)
	       : level == 1              ? advice_typical(g, OPERATION_L2_HIT)
					 : advice_typical(g, OPERATION_L3_HIT);
}

static double or_zero(double count) { return count > 0 ? count : 0; }

static bool conflicts(struct giving *g, unsigned level)
{
	double misses = advice_count(g, level == 1 ? EVIDENCE_L1_MISSES : EVIDENCE_L2_MISSES),
	       of = advice_count(g, level == 1 ? EVIDENCE_L1_CONFLICTS : EVIDENCE_L2_CONFLICTS),
	       seconds = of * behind(g, level), way = g->facts->way_bytes[level - 1];
	if (!(of >= ADVICE_MOST * misses) || !advice_is_worth(seconds, g->busy) || !(way > 0))
		return false;
	advice_say(g, "conflict-misses", seconds,
		   arena_printf(&g->e->arena,
				"Pad the rows or arrays that are used together: their distance is a multiple of "
				"%s bytes or "
				"near it, so their lines drive each other out of L%u.",
				GROUPED(way), level),
		   arena_printf(
			   &g->e->arena,
			   "%s of %s L%u misses here are conflicts: a fully associative cache of that size would "
			   "have had "
			   "the line.",
			   GROUPED(of), GROUPED(misses), level));
	return true;
}

/* Of new lines, those that follow a stride; NAN: not known. */
static double regular(const struct giving *g)
{
	double used = advice_count(g, EVIDENCE_STRIDE_USED), missed = advice_count(g, EVIDENCE_STRIDE_MISSES);
	return used + missed > 0 ? used / (used + missed) : NAN;
}

static double miss_seconds(const struct giving *g)
{
	double at[3] = {advice_count(g, EVIDENCE_L1_MISSES), advice_count(g, EVIDENCE_L2_MISSES),
			advice_count(g, EVIDENCE_L3_MISSES)};
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
	double misses = advice_count(g, EVIDENCE_TLB_MISSES), walks = advice_count(g, EVIDENCE_TLB_WALKS),
	       lines = advice_count(g, EVIDENCE_L1_MISSES), share = regular(g), lost = miss_seconds(g);
	double seconds = (misses > walks ? (misses - walks) * advice_typical(g, OPERATION_TLB_HIT) : 0) +
			 (walks > 0 ? walks * advice_typical(g, OPERATION_TLB_WALK) : 0);
	/* of lines and translations, those that were there before: a first pass is none to interchange */
	double again = lines - advice_count(g, EVIDENCE_L1_COMPULSORY) + or_zero(misses - lines);
	if (!(misses >= MANY_PAGES * lines) || !(f->tlb_entries > 0))
		return false;
	const char *evidence = arena_printf(
		&g->e->arena,
		"%s accesses missed the first TLB (%s pages of %s bytes), and %s of them needed a "
		"page walk; %s missed L1. %.0f %% of these follow a stride.",
		GROUPED(misses), GROUPED(f->tlb_entries), GROUPED(f->page_bytes), GROUPED(walks), GROUPED(lines),
		100 * share);
	/* along the memory, there would be a miss for each line's bytes only */
	if (share >= REGULAR && again >= ADVICE_MOST * fmax(lines, misses) &&
	    advice_is_worth(seconds + (isnan(lost) ? 0 : lost), g->busy))
		advice_say(g, "stride-of-pages", seconds + (isnan(lost) ? 0 : lost),
			   "Interchange the loops, so that the inner one goes along the memory: each step goes to "
			   "another page, "
			   "and neither the TLB nor L1 has it when it comes again.",
			   evidence);
	else if (share <= IRREGULAR && advice_is_worth(seconds, g->busy))
		advice_say(
			g, "pages-in-no-order", seconds,
			"Make the data smaller, or ask for huge pages (madvise(2), MADV_HUGEPAGE): accesses in no "
			"order go "
			"to more pages than the TLB has.",
			evidence);
	else
		return false;
	return true;
}

/* Lines that come for the first time come once, in whatever array the field is. */
static void fields(struct giving *g)
{
	double lines = advice_count(g, EVIDENCE_L1_MISSES), conflicting = advice_count(g, EVIDENCE_L1_CONFLICTS),
	       again = lines - advice_count(g, EVIDENCE_L1_COMPULSORY),
	       bytes = (advice_count(g, EVIDENCE_READ_BYTES) + advice_count(g, EVIDENCE_WRITTEN_BYTES)) / lines,
	       seconds = miss_seconds(g) * again / lines, share = regular(g);
	if (!advice_is_worth(seconds, g->busy) || !(bytes <= FEW_BYTES * g->facts->line_bytes) ||
	    !(share >= REGULAR) || !(conflicting < ADVICE_MOST * lines))
		return;
	advice_say(
		g, "one-field", seconds,
		"Keep the field in an array of its own (a shadow array), if it is one of a larger struct: most of "
		"each line "
		"that comes is not used.",
		arena_printf(
			&g->e->arena,
			"%.3g bytes are used of each line of %.0f bytes; L1 took %s lines here, %.0f %% of them "
			"along a "
			"stride.",
			bytes, g->facts->line_bytes, GROUPED(lines), 100 * share));
}

/* In no order, lines that the level had and did not keep. A line that the next level has not either is charged to
 * that one alone. */
static void larger(struct giving *g, unsigned level)
{
	static const enum evidence missed[] = {EVIDENCE_L1_MISSES, EVIDENCE_L2_MISSES, EVIDENCE_L3_MISSES},
				   new[] = {EVIDENCE_L1_COMPULSORY, EVIDENCE_L2_COMPULSORY,
					    EVIDENCE_L3_COMPULSORY};
	static const char *const rules[] = {"too-much-for-l1", "too-much-for-l2", "too-much-for-l3"};
	unsigned at = level - 1;
	double misses = advice_count(g, missed[at]), share = regular(g),
	       /* what another thread took was kept until then */
		taken = or_zero(advice_count(g, EVIDENCE_FALSE_SHARING)) +
			or_zero(advice_count(g, EVIDENCE_TRUE_SHARING)),
	       again = misses - advice_count(g, new[at]) - taken,
	       next = level < g->facts->levels ? advice_count(g, missed[level]) : 0,
	       seconds = or_zero(again - next) * behind(g, level);
	if (!(share <= IRREGULAR) || isnan(next) || !(again >= ADVICE_MOST * misses) ||
	    !advice_is_worth(seconds, g->busy))
		return;
	advice_say(
		g, rules[at], seconds,
		arena_printf(
			&g->e->arena,
			"Make the data smaller that is accessed here in no order, or do all that belongs to one "
			"part of it before going to the next: L%u (%s bytes) does not keep it.",
			level, GROUPED(g->facts->cache_bytes[at])),
		arena_printf(
			&g->e->arena,
			"%s of %s L%u misses here are on lines that were accessed before; %.0f %% of the misses "
			"of L1 follow a stride.",
			GROUPED(again), GROUPED(misses), level, 100 * share));
}

static void sharing(struct giving *g)
{
	double lost = advice_count(g, EVIDENCE_FALSE_SHARING),
	       seconds = lost * behind(g, g->facts->levels > 2 ? 2 : g->facts->levels);
	if (!advice_is_worth(seconds, g->busy))
		return;
	advice_say(
		g, "false-sharing", seconds,
		arena_printf(&g->e->arena,
			     "Give each thread's data a line of its own (pad it to %.0f bytes): threads write to "
			     "different "
			     "bytes of the same line.",
			     g->facts->shared_bytes),
		arena_printf(&g->e->arena,
			     "%s accesses missed because another thread had written to other bytes of the line.",
			     GROUPED(lost)));
}

void advice_on_memory(struct giving *g)
{
	bool packed[] = {conflicts(g, 1), conflicts(g, 2), false};
	if (!pages(g) && !packed[0] && !packed[1])
		fields(g);
	for (unsigned level = 1; level <= g->facts->levels; level++)
		if (!packed[level - 1])
			larger(g, level);
	sharing(g);
}

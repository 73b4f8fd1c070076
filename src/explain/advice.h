/*
 * Advice: what to change, where a rule with its evidence applies. Each piece has the numbers that it rests on, the
 * source line, and the time that it is about, by typical costs.
 *
 * What always holds:
 *  1. A rule speaks only of what is worth it: ADVICE_SHARE of the CPU time at least (of waiting: of all time),
 *     and ADVICE_SECONDS.
 *  2. A rule that lacks one of its numbers is silent. Of mispredictions and locked instructions whose cost is not
 *     known, it speaks where they are one instruction of a hundred at least: then its time is NAN.
 *  3. The longest time comes first, then those without a time. Nothing is executed here, and no clock is read. */
#ifndef TARE_EXPLAIN_ADVICE_H
#define TARE_EXPLAIN_ADVICE_H

#include "base/error.h"
#include "explain/causes.h"
#include "explain/evidence.h"
#include "result/explanation.h"

#define ADVICE_SHARE 0.05
#define ADVICE_SECONDS 1e-3

/* The line of the program behind what rows do not tell; file NULL: none is known, and why. */
struct advice_line {
	const char *file;
	unsigned line;
	const char *why_none;
};

/* The machine that evidence was counted on, and its costs. */
struct advice_facts {
	unsigned levels;
	const struct costs *costs;
	double line_bytes, page_bytes;
	double shared_bytes;   /* the longest line of a data cache: data of two threads is to lie so far apart */
	double cache_bytes[3]; /* of L1, L2, L3; 0: there is none */
	double way_bytes[2];   /* of L1, L2: addresses so far apart share a set; 0: there is none */
	double tlb_entries;    /* of the first TLB for data; 0: there is none */
	struct memory_seen memory; /* of the program as it is */
	/* where it waits for locks longest; where most of its page faults are; what the C library's locked
	 * instructions are called from */
	struct advice_line waiting, faulting, locking;
};

/* What the explanation's causes make worth counting by line. */
struct evidence_wish advice_wish(const struct explanation *e, unsigned levels);

/* Will rules speak of waiting for locks, of page faults? Then their lines are worth an execution that is
 * sampled. */
bool advice_wants_waits(const struct explanation *e);
/* Of locked instructions, by these rows? Then the lines that they are called from are worth one. */
bool advice_wants_locking(const struct explanation *e, const struct evidence_rows *evidence);

/* Adds to e->advice. functions: the rows that evidence_want_functions() asked for, by function. */
bool advice_give(struct explanation *e, const struct evidence_rows *evidence,
		 const struct evidence_rows *functions, const struct advice_facts *facts, struct error *err);

#endif

/*
 * What advice rests on: counts of one execution by source line, from the machine as it is modelled, and from
 * variants of it that show what the first cannot (model/declare/machines.h).
 *
 *     evidence_want ──► (evidence_events ──► an execution counts them by line ──► evidence_add)* ──► advice_give
 *
 * With a stride prefetcher, the lines that it brought and that were used are those that follow a stride: a chase
 * has none. With "backward taken", the mispredictions of a backward branch are the times that it was not taken.
 *
 * What always holds:
 *  1. A line is there once, however many executions, inlined copies and functions it is from.
 *  2. What was not counted by line is not known of any (evidence_count() is NAN): it is not 0. */
#ifndef TARE_EXPLAIN_EVIDENCE_H
#define TARE_EXPLAIN_EVIDENCE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "result/breakdown.h"

enum evidence {
	EVIDENCE_READ_BYTES,
	EVIDENCE_WRITTEN_BYTES,
	EVIDENCE_L1_MISSES,
	EVIDENCE_L2_MISSES,
	EVIDENCE_L3_MISSES,
	EVIDENCE_L1_CONFLICTS, /* misses that a fully associative LRU cache of the same size would not have */
	EVIDENCE_L2_CONFLICTS,
	EVIDENCE_L1_COMPULSORY, /* misses of lines that were never there before */
	EVIDENCE_L2_COMPULSORY,
	EVIDENCE_L3_COMPULSORY,
	EVIDENCE_TLB_MISSES,
	EVIDENCE_TLB_WALKS,
	EVIDENCE_CONDITIONAL, /* branches executed */
	EVIDENCE_TAKEN,
	EVIDENCE_MISPREDICTED,
	EVIDENCE_FALSE_SHARING,
	EVIDENCE_TRUE_SHARING,
	EVIDENCE_INSTRUCTIONS,
	EVIDENCE_FP_OPERATIONS,
	EVIDENCE_CONVERSIONS,
	EVIDENCE_LOCKED,
	EVIDENCE_CALLS,
	EVIDENCE_STRIDE_MISSES, /* of the variant: L1 misses … */
	EVIDENCE_STRIDE_USED,   /* … and prefetched lines that were used */
	EVIDENCE_STATIC_MISSES, /* of the variant: mispredictions */
	EVIDENCES,
};

struct evidence_row {
	const char *file;         /* NULL: not known */
	const char *function;     /* of the first copy that was found; or of code without lines */
	unsigned line;            /* 0: of code without lines; by function */
	double counts[EVIDENCES]; /* see evidence_count() */
};

struct evidence_rows {
	struct arena arena;
	bool wanted[EVIDENCES], taken[EVIDENCES];
	VEC(struct evidence_row) rows;
	struct hash_index index;
};

/* Of a machine of so many cache levels (1 to 3): what the rules on these causes need. */
struct evidence_wish {
	unsigned levels;
	bool caches, tlb, branches, sharing, computing;
};
void evidence_want(struct evidence_rows *e, const struct evidence_wish *wish);
/* By function, in rows of their own: what inlined and shared lines do not tell. */
void evidence_want_functions(struct evidence_rows *e, const struct evidence_wish *wish);

/* The machine's, or the variants' events that are still to be counted, as -e has them; appended. */
void evidence_events(const struct evidence_rows *e, bool variant, struct str *out);
/* Takes what the breakdown by line has. *more: it had something that was missing. False: memory ran out. */
bool evidence_add(struct evidence_rows *e, bool variant, const struct breakdown *b, bool *more);
/* NAN: not counted by line. */
double evidence_count(const struct evidence_rows *e, const struct evidence_row *row, enum evidence kind);
/* Of all rows. */
double evidence_sum(const struct evidence_rows *e, enum evidence kind);
void evidence_free(struct evidence_rows *e);

#endif

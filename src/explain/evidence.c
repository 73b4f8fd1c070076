#include "explain/evidence.h"

#include <math.h>
#include <string.h>

static const struct evidence_kind {
	const char *event;
	bool variant;
} kinds[EVIDENCES] = {
	[EVIDENCE_READ_BYTES] = {"data-read-bytes:u", false},
	[EVIDENCE_WRITTEN_BYTES] = {"data-write-bytes:u", false},
	[EVIDENCE_L1_MISSES] = {"l1d-misses:u", false},
	[EVIDENCE_L2_MISSES] = {"l2-misses:u", false},
	[EVIDENCE_L3_MISSES] = {"l3-misses:u", false},
	[EVIDENCE_L1_CONFLICTS] = {"l1d-conflict-misses:u", false},
	[EVIDENCE_L2_CONFLICTS] = {"l2-conflict-misses:u", false},
	[EVIDENCE_L1_COMPULSORY] = {"l1d-compulsory-misses:u", false},
	[EVIDENCE_L2_COMPULSORY] = {"l2-compulsory-misses:u", false},
	[EVIDENCE_L3_COMPULSORY] = {"l3-compulsory-misses:u", false},
	[EVIDENCE_TLB_MISSES] = {"dtlb-misses:u", false},
	[EVIDENCE_TLB_WALKS] = {"dtlb-walks:u", false},
	[EVIDENCE_CONDITIONAL] = {"conditional-branches:u", false},
	[EVIDENCE_TAKEN] = {"conditional-taken:u", false},
	[EVIDENCE_MISPREDICTED] = {"branch-misses:u", false},
	[EVIDENCE_FALSE_SHARING] = {"false-sharing-misses:u", false},
	[EVIDENCE_TRUE_SHARING] = {"true-sharing-misses:u", false},
	[EVIDENCE_INSTRUCTIONS] = {"instructions:u", false},
	[EVIDENCE_FP_OPERATIONS] = {"fp-operations:u", false},
	[EVIDENCE_CONVERSIONS] = {"fp-conversions:u", false},
	[EVIDENCE_LOCKED] = {"locked-instructions:u", false},
	[EVIDENCE_CALLS] = {"calls:u", false},
	[EVIDENCE_STRIDE_MISSES] = {"l1d-misses:u", true},
	[EVIDENCE_STRIDE_USED] = {"l1d-prefetches-used:u", true},
	[EVIDENCE_STATIC_MISSES] = {"branch-misses:u", true},
};

void evidence_want(struct evidence_rows *e, const struct evidence_wish *wish)
{
	*e = (struct evidence_rows){0};
	bool *w = e->wanted, data = wish->caches || wish->tlb;
	w[EVIDENCE_READ_BYTES] = w[EVIDENCE_WRITTEN_BYTES] = wish->caches;
	w[EVIDENCE_L1_MISSES] = data;
	w[EVIDENCE_L2_MISSES] = wish->caches && wish->levels > 1;
	w[EVIDENCE_L3_MISSES] = wish->caches && wish->levels > 2;
	w[EVIDENCE_L1_CONFLICTS] = wish->caches;
	w[EVIDENCE_L2_CONFLICTS] = wish->caches && wish->levels > 1;
	w[EVIDENCE_L1_COMPULSORY] = data;
	w[EVIDENCE_L2_COMPULSORY] = wish->caches && wish->levels > 1;
	w[EVIDENCE_L3_COMPULSORY] = wish->caches && wish->levels > 2;
	/* how far apart accesses are, the TLB shows */
	w[EVIDENCE_TLB_MISSES] = w[EVIDENCE_TLB_WALKS] = data;
	w[EVIDENCE_CONDITIONAL] = w[EVIDENCE_TAKEN] = w[EVIDENCE_MISPREDICTED] = wish->branches;
	w[EVIDENCE_FALSE_SHARING] = w[EVIDENCE_TRUE_SHARING] = wish->sharing;
	w[EVIDENCE_INSTRUCTIONS] = w[EVIDENCE_FP_OPERATIONS] = w[EVIDENCE_CONVERSIONS] = wish->computing;
	w[EVIDENCE_LOCKED] = w[EVIDENCE_CALLS] = wish->computing;
	w[EVIDENCE_STRIDE_MISSES] = w[EVIDENCE_STRIDE_USED] = data;
	w[EVIDENCE_STATIC_MISSES] = wish->branches;
}

void evidence_want_functions(struct evidence_rows *e, const struct evidence_wish *wish)
{
	*e = (struct evidence_rows){0};
	e->wanted[EVIDENCE_INSTRUCTIONS] = e->wanted[EVIDENCE_FP_OPERATIONS] = wish->computing;
	/* no rule reads it: with it threads take turns, as in the executions that are compared with this one */
	e->wanted[EVIDENCE_FALSE_SHARING] = wish->computing && wish->sharing;
}

static bool missing(const struct evidence_rows *e, unsigned kind, bool variant)
{
	return e->wanted[kind] && !e->taken[kind] && kinds[kind].variant == variant;
}

void evidence_events(const struct evidence_rows *e, bool variant, struct str *out)
{
	for (unsigned k = 0; k < EVIDENCES; k++)
		if (missing(e, k, variant))
			str_appendf(out, "%s%s", out->length ? "," : "", kinds[k].event);
}

/* n_events: it has no rows of it. */
static size_t event_of(const struct breakdown *b, const char *label)
{
	for (size_t i = 0; i < b->n_events; i++)
		if (strcmp(b->events[i].label, label) == 0 && !b->events[i].why && !b->events[i].defect)
			return i;
	return b->n_events;
}

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* Without a line, the function is the place. */
static bool same_place(const struct evidence_row *row, const struct breakdown_row *of)
{
	return row->line == of->line && same_text(row->file, of->file) &&
	       (of->line || same_text(row->function, of->name));
}

/* The line's row, new or not; NULL: memory ran out. */
static struct evidence_row *row_of(struct evidence_rows *e, const struct breakdown_row *of)
{
	uint64_t hash = hash_number(hash_text(hash_text(HASH_BEGIN, of->file), of->line ? NULL : of->name),
				    of->line);
	struct hash_search search = hash_find(&e->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (same_place(&e->rows.items[i], of))
			return &e->rows.items[i];
	struct evidence_row new = {.line = of->line};
	new.file = of->file ? arena_strdup(&e->arena, of->file) : NULL;
	new.function = arena_strdup(&e->arena, of->name ? of->name : "");
	if ((of->file && !new.file) || !new.function || !vec_push(&e->rows, new) ||
	    !hash_add(&e->index, hash, (uint32_t)e->rows.count - 1))
		return NULL;
	return &e->rows.items[e->rows.count - 1];
}

bool evidence_add(struct evidence_rows *e, bool variant, const struct breakdown *b, bool *more)
{
	*more = false;
	for (unsigned k = 0; k < EVIDENCES; k++) {
		size_t event = event_of(b, kinds[k].event);
		if (!missing(e, k, variant) || event == b->n_events)
			continue;
		e->taken[k] = *more = true;
		for (size_t r = 0; r < b->n_rows; r++) {
			struct evidence_row *row = b->rows[r].counts[event] ? row_of(e, &b->rows[r]) : NULL;
			if (row)
				row->counts[k] += (double)b->rows[r].counts[event];
			else if (b->rows[r].counts[event])
				return false;
		}
	}
	return true;
}

double evidence_count(const struct evidence_rows *e, const struct evidence_row *row, enum evidence kind)
{
	return e->taken[kind] ? row->counts[kind] : NAN;
}

double evidence_sum(const struct evidence_rows *e, enum evidence kind)
{
	double sum = 0;
	for (size_t i = 0; i < e->rows.count; i++)
		sum += evidence_count(e, &e->rows.items[i], kind);
	return sum;
}

void evidence_free(struct evidence_rows *e)
{
	vec_free(&e->rows);
	hash_free(&e->index);
	arena_free(&e->arena);
	*e = (struct evidence_rows){0};
}

/* What annotate.c and range.c share: the plan of what is inserted where. */
#ifndef TARE_ASSEMBLY_PLAN_H
#define TARE_ASSEMBLY_PLAN_H

#include "assembly/annotate.h"

/* A region in the text: control is inside from begin to before end. */
struct line_range {
	size_t begin, end;
	int first, last;  /* instructions */
	unsigned name;    /* index of its name */
	bool falls_out;   /* control can go on behind its last line */
	const char *text; /* its name */
};

/* In this order where they are at the same place. */
enum rank { RANK_END, RANK_ENTRY, RANK_BEGIN, RANK_LABEL, RANK_BEFORE, RANK_PAD };

struct insertion {
	size_t at, until; /* what is replaced: until > at only for a jump's target */
	enum rank rank;
	size_t order;
	char *text;
};

enum label_mark {
	MARK_OWN_LABEL = 1, /* also has a label of ours */
	MARK_REACHED = 2,   /* a label that a jump goes to */
	MARK_TAKEN = 4,     /* a label whose address data or an instruction holds */
	MARK_RANGED = 8     /* the label of a function that has a range in it */
};

struct annotate_plan {
	const struct assembly *a;
	const struct annotate_request *request;
	VEC(struct line_range) ranges;
	VEC(const char *) names;
	VEC(struct insertion) insertions;
	bool ranged;    /* as MARK_RANGED, for what is in no function */
	VEC(int) taken; /* labels in code whose address data or an instruction holds */
	VEC(struct text_slice) macros;
	unsigned char *marks; /* [statements]: enum label_mark, or-ed */
	unsigned pads;
	struct error *err;
};

static inline const struct statement *plan_statement(const struct annotate_plan *p, int index)
{
	return &p->a->statements.items[index];
}

static inline bool range_holds(const struct line_range *range, size_t at)
{
	return at >= range->begin && at < range->end;
}

/* range.c: adds the lines asked for as a range, and its name. Errors name the line. */
bool plan_add_range(struct annotate_plan *p, const struct annotate_region *asked);
void plan_warn(const struct annotate_plan *p, const char *text);

/* Places: the index of the first statement at or behind one (the count when there is none); behind a statement:
 * the next line, or the next statement of the same line; do the operands have this text in them? */
size_t plan_statement_at(const struct assembly *a, size_t at);
size_t plan_behind(const struct assembly *a, size_t index);
bool plan_mentions(const struct assembly *a, struct text_slice operands, const char *text);
/* .cfi_… */
bool plan_is_frame_directive(const struct assembly *a, const struct statement *s);

#endif

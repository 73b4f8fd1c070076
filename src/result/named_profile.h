/*
 * A profile whose places have names: what reports print. profile/named.h makes it. Plain records.
 *
 * What always holds:
 *  1. Each place (module, offset) of the profile is there once, with the functions that it is in: the inlined ones
 *     first, the machine code's function last. A place has at least one frame.
 *  2. Of each event with cells, the rows' `self` of either table add up to its `sum`.
 *  3. `inclusive` of a row is what took place in it and in what it called. In a recursion each event counts once.
 *     Without stacks and arcs it is that of the place alone.
 *     With arcs a line's is that of its code, of what was inlined there, and of what it called. It is not known of a
 *     line that calls what comes back to it (nested): `inclusive` is that of its code then. Nor of code without names,
 *     if it calls what comes back to such code, or if control comes to a place of it otherwise than by calls.
 *  4. Names are bytes as the program's files have them, to be escaped when printed.
 */
#ifndef TARE_RESULT_NAMED_PROFILE_H
#define TARE_RESULT_NAMED_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "result/profile.h"

struct named_function {
	const char *name;   /* demangled, or "prog+0x1149" */
	const char *module; /* path; "[anonymous]", "[kernel]" */
	const char *file;   /* where it begins; NULL: not known, and of one that is inlined everywhere */
	unsigned line;
	uint64_t begins; /* offset in the module; of an inlined one 0 */
	bool inlined;
	uint32_t row; /* in by_function; of an inlined one UINT32_MAX */
};

struct named_frame { /* one level of inlining */
	uint32_t function;
	const char *file; /* where in it the place is; NULL: not known */
	unsigned line;
	uint32_t line_row; /* in by_line */
};

struct named_place {
	uint32_t module;
	uint64_t offset;
	uint32_t first_frame, n_frames;
};

/* Do two gaps tell the same share? `tare profile --check`. */
enum named_verdict {
	VERDICT_NONE,    /* not checked */
	VERDICT_AGREES,  /* no difference is shown, and a large one is excluded */
	VERDICT_DEPENDS, /* the share depends on the gap */
	VERDICT_VARIES,  /* runs with the same gap differ too much to tell */
	VERDICT_FEW,     /* too few samples to tell */
};

struct named_check {
	enum named_verdict verdict;
	double first, second; /* shares at the two gaps */
	double low, high;     /* interval of second - first */
	double p;             /* that runs differ so much where the gap does not matter; NAN: not tested */
};

struct named_count {
	uint64_t self, inclusive;
	bool nested;                     /* with arcs: inclusive is not known */
	const struct named_check *check; /* NULL: not checked */
	/* of the share self / sum: the interval, when there is one */
	bool has_interval;
	double low, high;
	/* of rows by self: the ranks that it may have, as far as the samples tell; 0: not asked, or it is exact */
	uint32_t first_rank, last_rank;
};

struct named_row {
	const char *name; /* function; of a line without a function in the source, of its machine code; "" */
	const char *module;
	const char *file;                /* NULL: not known */
	unsigned line;                   /* 0: none */
	bool calls;                      /* a line, with arcs: it calls */
	bool lines_left_out;             /* of code whose lines were not looked for: file is NULL */
	const struct profile_task *task; /* that, or of its process; NULL: it is a row of code */
	struct named_count *counts;      /* [n_events] */
};

struct named_table {
	struct named_row *rows;
	size_t n;
};

/* An arc of an exact call graph, with names. One place may call several functions, and a function be called from
 * several places: an arc is of one place and one function. */
struct named_arc {
	/* in by_function; UINT32_MAX: the program, a thread or a process begins there */
	uint32_t caller, callee;
	uint32_t place; /* the call; UINT32_MAX as caller */
	uint64_t calls;
	const uint64_t *inclusive; /* [n_events], as struct profile_arc has it */
};

struct named_profile {
	struct arena arena;
	const struct profile *profile; /* borrowed */
	struct named_function *functions;
	size_t n_functions;
	struct named_frame *frames;
	size_t n_frames;
	struct named_place *places;
	size_t n_places;
	uint32_t *place_of_node; /* [n_nodes]; of the root UINT32_MAX */
	struct named_table by_function, by_line;
	struct named_table by_thread, by_process; /* profile/by_task.h */
	struct named_arc *arcs;                   /* in the order of the profile's */
	size_t n_arcs;
	uint64_t *sums;     /* [n_events] of the cells */
	bool has_inclusive; /* inclusive counts are more than self: there are stacks or arcs */
	double confidence;  /* of the intervals */
	const char **notes; /* what a reader of the names has to know */
	size_t n_notes;
};

static inline void named_profile_free(struct named_profile *named)
{
	arena_free(&named->arena);
	*named = (struct named_profile){0};
}

#endif

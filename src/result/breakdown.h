/* Events of one execution by function, source line or data object: what reports print. Plain records. */
#ifndef TARE_RESULT_BREAKDOWN_H
#define TARE_RESULT_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum breakdown_by {
	BREAKDOWN_NONE,
	BREAKDOWN_BY_FUNCTION,
	BREAKDOWN_BY_LINE,
	BREAKDOWN_BY_OBJECT,
	BREAKDOWN_BY_LIBRARY, /* the file that the code is from: the program or a library */
};

struct breakdown_frame { /* of an allocation's stack */
	const char *function, *module, *file;
	unsigned line;
};

struct breakdown_row {
	const char *name;   /* function or object; names are bytes, as the program's files have them */
	const char *module; /* the path; "" for memory of no file */
	const char *file;   /* source file; NULL: not known */
	unsigned line;      /* by line; 0: none */
	/* of an object: "variable", "thread-local", "heap", "mapping", "stack", "allocator", "code", "unknown";
	 * NULL for code */
	const char *kind;
	const struct breakdown_frame *frames; /* of a heap object's allocation, innermost first */
	size_t n_frames;
	/* of a heap object: blocks allocated there, and bytes together; of a variable: 1, its size */
	uint64_t blocks, bytes;
	uint64_t *counts; /* n_events */
	/* likewise, with all that was called from there; NULL: not asked for (breakdown.inclusive), or not
	 * known (profile/nested.h) */
	uint64_t *inclusive;
};

struct breakdown_event {
	const char *label, *unit, *machine; /* machine: NULL for what is not modelled */
	uint64_t total;                     /* its count in the execution that the rows are of */
	uint64_t sum;                       /* over the rows: equal to total, or `defect` */
	const char *why;                    /* there are no rows of it: why; NULL */
	const char *defect;                 /* the sum is not the total: a sentence; NULL */
};

struct breakdown {
	struct arena arena;
	enum breakdown_by by;
	bool inclusive; /* rows have inclusive counts; also those that have nothing else */
	/* 1-based: the repetition that it is of, and how many there were; a table's means are of all of these */
	size_t run, runs;
	struct breakdown_event *events;
	size_t n_events;
	struct breakdown_row *rows; /* by the first event that has rows, descending; then the next; then by name */
	size_t n_rows;
	const char **notes; /* what a reader has to know: modules whose names could not be read */
	size_t n_notes;
};

static inline void breakdown_free(struct breakdown *breakdown)
{
	arena_free(&breakdown->arena);
	*breakdown = (struct breakdown){0};
}

static inline const char *breakdown_by_name(enum breakdown_by by)
{
	return by == BREAKDOWN_BY_FUNCTION  ? "function"
	       : by == BREAKDOWN_BY_LINE    ? "line"
	       : by == BREAKDOWN_BY_OBJECT  ? "object"
	       : by == BREAKDOWN_BY_LIBRARY ? "library"
					    : "none";
}

#endif

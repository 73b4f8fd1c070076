/* A paper's experiment, run again: what `tare verify --paper` reports, in the order in which it says it. Plain
 * records, in one arena. */
#ifndef TARE_RESULT_PAPER_STUDY_H
#define TARE_RESULT_PAPER_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"

enum { PAPER_CELLS_MOST = 16 };

enum paper_block_kind {
	PAPER_HEADING, /* text; `detail` behind it */
	PAPER_TEXT,
	PAPER_MISSING, /* what cannot be run here, and why */
	PAPER_TABLE,
	PAPER_FIGURE,
};

/* A line of a figure. y NAN: no value at that x. */
struct paper_series {
	const char *name;
	const char *source; /* what produced it: "exact", "hw", "r12000", "paper" */
	double *x, *y;
	size_t n;
};

struct paper_figure {
	const char *title, *x_label, *y_label;
	bool percent;     /* y is in percent, and may be below 0: drawn linear up to 1 %, beyond logarithmic */
	bool logarithmic; /* otherwise: y is drawn logarithmic */
	/* bars instead of lines: x is 1 … n_categories, each series has a bar of a category at most */
	bool bars;
	const char **categories;
	size_t n_categories;
	VEC(struct paper_series) series;
};

struct paper_row {
	const char *cells[PAPER_CELLS_MOST];
};

struct paper_block {
	enum paper_block_kind kind;
	const char *text, *detail;
	/* of PAPER_TABLE */
	const char *columns[PAPER_CELLS_MOST];
	size_t n_columns;
	VEC(struct paper_row) rows;
	struct paper_figure figure;
};

struct paper_study {
	struct arena arena;
	const char *paper, *title; /* "korn"; authors, title and year */
	VEC(struct paper_block) blocks;
	size_t executions;
};

#endif

/* A report as data: what it says, in the order in which it says it. build.c makes it from a result; a writer
 * (text.c) gives it a form: line breaks, the widths of columns, colours.
 *
 * What always holds:
 * 1. A sentence is whole and stands here once. A writer adds none of its own.
 * 2. Nothing depends on the width of a terminal. Where room decides, a row has both parts (`share`).
 * 3. Cells have no control characters. Sentences may have them (program arguments, native event names): the
 *    writer makes them visible.
 * 4. Text that does not come from the result is in the document's arena; the result outlives the document. */
#ifndef TARE_REPORT_DOCUMENT_H
#define TARE_REPORT_DOCUMENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "result/result.h"

enum document_row_kind {
	ROW_HEADINGS, /* the first cell; the table's headings over the others when `known` */
	ROW_TITLE,    /* text in the place of the headings */
	ROW_COUNT,    /* an estimate: cells; or, when it is not known, a name and a sentence */
	ROW_RUN,      /* one repetition's value of the row above */
	ROW_FRAME,    /* the first cell: a call that led to the object of the row above */
};

/* Cells of a table of estimates, and of a table of gross, tare and net. */
enum { CELL_NAME, CELL_VALUE, CELL_UNIT, CELL_SPREAD, CELL_RAN, CELL_SOURCE, CELL_TRUST, CELL_NOTE, CELLS };
enum { CELL_GROSS = CELL_VALUE, CELL_TARE = CELL_SPREAD, CELL_NET = CELL_RAN, CELL_REMARK = CELL_NOTE };
enum { CELL_MIN = CELL_VALUE, CELL_MEDIAN = CELL_SPREAD, CELL_MAX = CELL_RAN, CELL_SD = CELL_SOURCE };
enum { CELL_COUNT = CELL_VALUE, CELL_SHARE, CELL_CUMULATIVE, CELL_CUMULATIVE_SHARE }; /* of a breakdown */

enum { DOCUMENT_CELL_BYTES = 256 }; /* no cell of a table of estimates is longer */

struct document_row {
	enum document_row_kind kind;
	bool known;                      /* ROW_COUNT: the estimate is; ROW_HEADINGS: a row below is */
	bool warn;                       /* refuted, or scaled up from a part of the time */
	const struct estimate *estimate; /* of ROW_COUNT and ROW_RUN */
	const char *cells[CELLS];        /* NULL: empty */
	const char *share;               /* of the value, for the end of CELL_SPREAD where there is room; NULL */
	const char *text;                /* of ROW_TITLE, and why a count is not known */
};

struct document_table {
	const char *headings[CELLS];
	size_t name_least; /* columns of CELL_NAME: also counting events that have no row here */
	VEC(struct document_row) rows;
};

enum document_kind {
	BLOCK_GAP,        /* what follows stands apart from what came before */
	BLOCK_TITLE,      /* label and text */
	BLOCK_SUBTITLE,   /* label and text */
	BLOCK_HEADING,    /* label, directly followed by text */
	BLOCK_PARAGRAPH,  /* text: a note without a label */
	BLOCK_NOTE,       /* label: "-", "!" (rank NOTE_ACT) or a footnote's "[1]"; text */
	BLOCK_REMARK,     /* label and text, of the table above */
	BLOCK_LINE,       /* text that is not broken */
	BLOCK_WARNING,    /* likewise, of what must not be overlooked */
	BLOCK_COUNTS,     /* a table of estimates */
	BLOCK_GROSS,      /* a table of gross, tare and net */
	BLOCK_STATISTICS, /* a table of least, median, most and standard deviation */
	BLOCK_BREAKDOWN,  /* a table of counts by function, line or object */
	BLOCK_COLUMNS,    /* a table of its own columns */
	BLOCK_FACT,       /* label and text: where the numbers come from; a writer may leave them out */
	BLOCK_FLAME,      /* a flame graph of `event`; without a drawing it has no text */
	BLOCK_FIGURE,     /* a drawing of `figure`; a writer without drawings leaves it out */
	BLOCK_STACKED,    /* likewise, of `stacked` */
};

struct columns; /* report/columns.h */
struct named_profile;
struct paper_figure;   /* result/paper_study.h */
struct stacked_figure; /* report/stacked.h */

struct document_block {
	enum document_kind kind;
	/* of document_note(): it stands at the end of the report, as far as there is room, in the order of
	 * ranks */
	bool ranked;
	enum note_rank rank;
	const char *label, *text;
	struct document_table table;
	struct columns *columns;              /* of BLOCK_COLUMNS; the document's */
	const struct named_profile *named;    /* of BLOCK_FLAME; borrowed, it outlives the document */
	const struct paper_figure *figure;    /* of BLOCK_FIGURE; likewise */
	const struct stacked_figure *stacked; /* of BLOCK_STACKED; the document's */
	size_t event;                         /* likewise */
	/* what a reader wants to know first, where a writer has room for it above the tables */
	bool answer;
};

struct document {
	VEC(struct document_block) blocks;
	struct arena arena;
	bool failed;    /* memory ran out: something is missing */
	size_t details; /* counts whose rows are left to `verbose` */
};

/* label and text are kept, not copied. */
void document_add(struct document *document, enum document_kind kind, const char *label, const char *text);

/* A paragraph (label NULL) or a note of that rank, at the end of the report. */
void document_note(struct document *document, enum note_rank rank, const char *label, const char *text);

/* Takes text over. When it is empty or memory ran out, `otherwise` stands in its place; with NULL there is no
 * block. */
void document_add_str(struct document *document, enum document_kind kind, const char *label, struct str *text,
		      const char *otherwise);

/* An empty table at the end. NULL when memory ran out; valid until the next block is added. */
struct document_table *document_add_table(struct document *document, enum document_kind kind);

/* An empty table of that many columns at the end. NULL when memory ran out; it stays where it is. */
struct columns *document_add_columns(struct document *document, size_t n);

/* named outlives the document. */
void document_add_flame(struct document *document, const struct named_profile *named, size_t event);

/* figure outlives the document. */
void document_add_figure(struct document *document, const struct paper_figure *figure);

/* figure and all of it is in the document's arena; NULL: memory ran out. */
void document_add_stacked(struct document *document, const struct stacked_figure *figure);

/* What a writer says when something is missing; NULL when nothing is. */
const char *document_trouble(const struct document *document);

/* Text of the document's own; NULL when memory ran out or text is empty. */
const char *document_str(struct document *document, struct str *text);
/* For cells: the text without control characters. */
const char *document_escaped(struct document *document, const char *text);
/* The same of all of a text that may be long. */
const char *document_escaped_whole(struct document *document, const struct str *text);
const char *document_printf(struct document *document, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A number of that printf() format; "–" for NAN. */
const char *document_double(struct document *document, const char *format, double value);

void document_free(struct document *document);

#endif

/* What the browser shows, as rows: lists of functions and lines, a source file, a function's instructions, its
 * callers and callees. Without a terminal. */
#ifndef TARE_CLI_BROWSE_VIEWS_H
#define TARE_CLI_BROWSE_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "report/profile.h"

enum browse_kind { VIEW_FUNCTIONS, VIEW_LINES, VIEW_SOURCE, VIEW_CODE, VIEW_CALLS };
enum browse_order { ORDER_SELF, ORDER_INCLUSIVE, ORDER_NAME };

#define VIEW_NO_ROW UINT32_MAX

struct browse_row {
	const char *text; /* without control characters */
	const char *mark; /* "caller", a line's number; "" */
	bool counts;      /* the numbers are shown, also when they are 0 */
	uint64_t self, inclusive;
	bool nested;                   /* inclusive is not known (named_count.nested) */
	const struct named_row *named; /* that it is; NULL */
	uint32_t function;             /* of by_function; VIEW_NO_ROW */
};

struct browse_view {
	struct arena arena;
	enum browse_kind kind;
	enum browse_order order;
	size_t event;
	const struct named_row *of; /* SOURCE: of whose file; CODE, CALLS: the function; NULL */
	const char *title;
	VEC(struct browse_row) rows;
	size_t selected, top;
};

/* Fills in title and rows by kind, order, event and `of`, anew where they are filled in; the selection stays, or
 * of a new source is its line. False with *err. */
bool browse_view_fill(struct browse_view *view, const struct named_profile *named, struct error *err);
void browse_view_free(struct browse_view *view);

#endif

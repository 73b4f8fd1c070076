/* What the reports of profiles share: which rows, in which order, and how a name is shown. */
#ifndef TARE_REPORT_PROFILE_ROWS_H
#define TARE_REPORT_PROFILE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "result/named_profile.h"

/* Rows with a self count of the event, the largest first, then by name; with_callers: then those that have
 * inclusive counts only, the largest first. The caller frees the array; NULL when memory ran out. */
const struct named_row **profile_rows_sorted(const struct named_table *table, size_t event, bool with_callers,
					     size_t *n);

/* The last part of a path. */
const char *profile_base_name(const char *path);

/* Appends the text with control bytes as \xNN, however long it is. */
void profile_append_escaped(struct str *out, const char *text);

/* Appends "name (module:file:line)", escaped. */
void profile_append_row_name(struct str *out, const struct named_row *row);

struct profile_report_options;

/* Do only, exclude and modules leave it in the listing? */
bool profile_row_is_wanted(const struct named_row *row, const struct profile_report_options *options);

struct document;

/* profile_source.c: of each file with hot lines its windows; most: lines of each event, 0: as many as are worth
 * it. */
void build_profile_source(struct document *document, const struct named_profile *named, size_t most);

static inline double profile_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

#endif

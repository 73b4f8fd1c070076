/* What the reports of profiles share: which rows, in which order, and how a name is shown. */
#ifndef TARE_REPORT_PROFILE_ROWS_H
#define TARE_REPORT_PROFILE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/str.h"
#include "report/profile.h"
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

/* In the place of an inclusive count that is not known (named_count.nested). */
#define PROFILE_NESTED "recursion"

/* profile_data.c: a comma and the text, escaped and quoted, as a column of CSV. */
void profile_csv_text(FILE *out, const char *text);

/* Do only, exclude and modules leave it in the listing? */
bool profile_row_is_wanted(const struct named_row *row, const struct profile_report_options *options);

/* The rows of a listing, and what it is called: "function", "line", "thread", "process". Of data: functions. */
const struct named_table *profile_table(const struct named_profile *named, enum profile_by by);
const char *profile_by_name(enum profile_by by);

/* The functions (rows of by_function) that the report shows in more than a row: of each event that is reported,
 * those that are wanted, the largest first, until they have nearly all of it or are below options->quit_share (1
 * %), at most options->top or PROFILE_VIEWS_MOST. with_callers: by inclusive counts. At most `most` are stored. */
enum { PROFILE_VIEWS_MOST = 8 };
size_t profile_hottest_functions(const struct named_profile *named, const struct profile_report_options *options,
				 bool with_callers, uint32_t *rows, size_t most);

/* profile_stacks.c: what to do about stacks by frame pointers that lead nowhere; NULL: they are good. A constant.
 * */
const char *profile_stacks_remark(const struct named_profile *named);

struct document;
struct named_code;

/* profile_views.c: what the options ask for below the listing: source, instructions, callers and callees. */
void build_profile_views(struct document *document, const struct named_profile *named,
			 const struct profile_report_options *options);

/* profile_disassembly.c: the function's instructions with their counts; `whole`: not only those near one that has
 * counts. */
void build_profile_disassembly(struct document *document, const struct named_profile *named,
			       const struct named_code *code, bool whole,
			       const struct profile_report_options *options);

/* profile_butterfly.c: callers above, the function, callees below. */
void build_profile_butterfly(struct document *document, const struct named_profile *named, uint32_t row,
			     const struct profile_report_options *options);

/* profile_source.c: of each file with hot lines its windows. */
void build_profile_source(struct document *document, const struct named_profile *named,
			  const struct profile_report_options *options);

static inline double profile_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

#endif

/*
 * Profiles as text and files. Every writer writes to a stream and leaves it to the caller to find out, by
 * file_finish(), whether all of it arrived. Names come from the program's files: no writer passes on control
 * characters, markup or quotes that could act.
 */
#ifndef TARE_REPORT_PROFILE_H
#define TARE_REPORT_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"
#include "result/named_code.h"
#include "result/named_profile.h"

/* PROFILE_BY_DATA: report/data_profile.h */
enum profile_by { PROFILE_BY_FUNCTION, PROFILE_BY_LINE, PROFILE_BY_DATA, PROFILE_BY_THREAD, PROFILE_BY_PROCESS };

struct profile_report_options {
	struct report_options text; /* colour, width */
	enum profile_by by;
	/* names of functions (fnmatch(3)) that are listed alone, or left out; and of modules. NULL, or ending in
	 * NULL */
	const char *const *only, *const *exclude, *const *modules;
	size_t top;        /* rows; 0: until 99.9 % of the count, at most rows_most */
	size_t rows_most;  /* 0: 60 */
	double quit_share; /* rows below this share are left out; 0: none */
	bool one_event;    /* `event` alone */
	size_t event;
	bool annotate; /* then the hottest lines in their source */
	/* then the instructions of these functions */
	const struct named_code *code;
	size_t n_code;
	bool draw;      /* then the flame graph, for a writer that can draw it */
	bool butterfly; /* then the hottest functions with their callers and callees */
	/* of report_profile_prof(): what the user called the profile, and when the listing is made */
	const char *file;
	uint64_t made_unix;
};

/* Of each event a header and its rows, the largest self first. */
void report_profile_text(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options);

/* Would that listing be another one with the lines that were left out (lines_left_out in named_row)? Of functions,
 * without `only`, `exclude`, `modules` and anything below the listing. */
bool profile_list_wants_lines(const struct named_profile *named, const struct profile_report_options *options);

struct document;
void report_build_profile(struct document *document, const struct named_profile *named,
			  const struct profile_report_options *options);

/* The same as a page (html/html.h), with its hottest lines in their source and a flame graph. */
void report_profile_html(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options);

/* The same as SpeedShop's prof lists it. */
void report_profile_prof(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options);

/* All events, all rows; these have no options. */
void report_profile_json(FILE *out, const struct named_profile *named);
void report_profile_csv(FILE *out, const struct named_profile *named);

#endif

/* What `tare profile` and `tare report` share: how a profile is shown. */
#ifndef TARE_CLI_PROFILE_OPTIONS_H
#define TARE_CLI_PROFILE_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/options.h"
#include "report/profile.h"

/* Option ids from here on are show_apply()'s. */
enum {
	SHOW_BASE = 1000,
	SHOW_BY,
	SHOW_PER_THREAD,
	SHOW_PER_PROCESS,
	SHOW_LINES,
	SHOW_HEAVY,
	SHOW_ANNOTATE,
	SHOW_DIS,
	SHOW_BUTTERFLY,
	SHOW_BROWSE,
	SHOW_TOP,
	SHOW_CONFIDENCE,
	SHOW_END
};

/* Rows of a command's option table. */
#define SHOW_OPTION_ROWS                                                                                          \
	{0, "by", "function|line|data|thread|process",                                                            \
	 "list functions (default), source lines, the data that is touched, threads or processes", SHOW_BY},      \
		{0, "per-thread", NULL, "list threads, and then what each did apart", SHOW_PER_THREAD},           \
		{0, "per-process", NULL, "list processes, and then what each did apart", SHOW_PER_PROCESS},       \
		{0, "lines", NULL, "the same as --by line", SHOW_LINES},                                          \
		{0, "heavy", NULL, "the same: prof's name for it", SHOW_HEAVY},                                   \
		{0, "annotate", NULL, "also show the hottest lines in their source", SHOW_ANNOTATE},              \
		{0, "dis", NULL, "also show the hottest functions' instructions", SHOW_DIS},                      \
		{0, "butterfly", NULL, "also show the hottest functions' callers and callees", SHOW_BUTTERFLY},   \
		{0, "browse", NULL, "look through the profile on the terminal", SHOW_BROWSE},                     \
		{0, "top", "N", "list this many rows (default: until 99.9 % of the count, at most 60)",           \
		 SHOW_TOP},                                                                                       \
	{                                                                                                         \
		0, "confidence", "95|99", "confidence level of the intervals, in percent (default 95)",           \
			SHOW_CONFIDENCE                                                                           \
	}

enum show_format {
	SHOW_TEXT,
	SHOW_JSON,
	SHOW_CSV,
	SHOW_HTML,
};

struct show_request {
	enum profile_by by;
	enum profile_by parts; /* THREAD, PROCESS: the same of each apart; FUNCTION: of the whole */
	size_t top;
	double confidence;
	bool annotate, disassemble, butterfly, browse;
	enum show_format format;
	bool prof;
	const char *file;                   /* what is shown, as the user said it; NULL: it was taken just now */
	const struct report_origin *origin; /* of a page of a kept run; NULL */
	double quit_share;
	VEC(const char *) only, exclude, modules; /* borrowed from argv; ending in NULL, or empty */
	const char *event;                        /* that alone; NULL: all, or the first where a format has one */
};

#define SHOW_FORMATS "text|json|csv|html"
bool show_parse_format(const char *value, enum show_format *out, struct error *err);

/* "10", "0.5%" */
bool show_parse_quit(const char *value, struct show_request *show, struct error *err);

/* Options that do not go together; out: where the report goes; has_output: it is -o's file. */
bool show_check(const struct show_request *show, FILE *out, bool has_output, struct error *err);

bool show_apply(struct show_request *show, int id, const char *value, struct error *err);

/* Names the profile's places and prints it. TARE_DONE, or what to exit with; a message said why. */
int show_profile(const struct profile *profile, const struct show_request *show, FILE *out, const char *name);

/* The same of what has changed since the profile in the file `before`. */
int show_difference(const struct profile *profile, const char *before, const struct show_request *show, FILE *out,
		    const char *name);

#endif

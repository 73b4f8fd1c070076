/* What `tare profile` and `tare report` share: a profile as a file of another tool (report/export.h). */
#ifndef TARE_CLI_EXPORT_OPTIONS_H
#define TARE_CLI_EXPORT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/options.h"
#include "report/export.h"

/* Option ids from here on are export_apply()'s. */
enum { EXPORT_BASE = 2000, EXPORT_AS, EXPORT_INVERTED, EXPORT_BEFORE, EXPORT_END };

/* Rows of a command's option table. */
#define EXPORT_OPTION_ROWS                                                                                        \
	{0, "as", EXPORT_FORMATS, "write a file for another tool, to -o FILE", EXPORT_AS},                        \
	{                                                                                                         \
		0, "inverted", NULL, "draw a flame graph with the callers above", EXPORT_INVERTED                 \
	}
/* Of those that have a profile already. */
#define EXPORT_MORE_ROWS                                                                                          \
	{                                                                                                         \
		0, "before", "FILE", "list what has changed since this profile; with --as flamegraph draw it",    \
			EXPORT_BEFORE                                                                             \
	}

struct export_request {
	const struct export_format *format; /* NULL: none was asked for */
	const char *event;                  /* its label; NULL: the first with counts */
	const char *before;
	bool inverted;
};

bool export_apply(struct export_request *request, int id, const char *value, struct error *err);

/* Options that do not go together; has_output: -o was given. */
bool export_check(const struct export_request *request, bool has_output, FILE *out, struct error *err);

/* Names the profile's places and writes it; finishes `out`, whose name is for messages. TARE_DONE, or what to
 * exit with; a message said why. */
int export_profile(const struct profile *profile, const struct export_request *request, double confidence,
		   FILE *out, const char *name);

#endif

/* `tare profile --by data`: a data profile, from the session to the report. */
#ifndef TARE_CLI_PROFILE_DATA_H
#define TARE_CLI_PROFILE_DATA_H

#include "cli/export_options.h"
#include "cli/profile_options.h"
#include "report/report.h"
#include "session/keep.h"
#include "session/profile.h"

struct profile_data_request {
	const struct session_target *target;
	const char *on, *events; /* events NULL: the default ones */
	const struct profiling *profiling;
	const struct show_request *show;
	const struct export_format *format; /* of -o: json, csv, html */
	const char *output;                 /* NULL: text on standard error */
	const struct keeping *keeping;
};

/* Formats in which -o has a data profile. */
bool profile_data_format(const struct export_format *format);

/* Returns what to exit with. */
int profile_data(const struct profile_data_request *request);

/* Shows a result whose breakdown is by object; out is finished but for standard output and standard error. */
int profile_data_show(const struct result *result, enum show_format format, const struct show_request *show,
		      FILE *out, const char *name);

#endif

/* One `tare count` at work, for count.c and count_reports.c. */
#ifndef TARE_CLI_COUNT_H
#define TARE_CLI_COUNT_H

#include <signal.h>

#include "base/arena.h"
#include "cli/explain_costs.h"
#include "cli/count_openmetrics.h"
#include "cli/count_options.h"
#include "cli/count_output.h"
#include "compat/parameters.h"
#include "session/launcher.h"
#include "session/session.h"

struct count_command {
	struct count_request request;
	struct parameters parameters;
	bool has_parameters;
	char *const *program; /* with its arguments; NULL */
	const volatile sig_atomic_t *interrupt;
	struct session session;
	struct output output, blocks, system_calls, by_file;
	struct openmetrics_output openmetrics;
	struct switching control;
	struct launched launched; /* which rank of several it is */
	bool joint;               /* … and the ranks have one report */
	struct ranks_folder *ranks;
	struct costs_found costs; /* --costs */
	struct runs *runs;        /* the store, when it was opened for what is verified */
	struct arena arena;
};

/* Writes the reports and the files that were asked for. False when some of it did not arrive there: then it was
 * said. */
bool count_write_reports(struct count_command *count);
/* Its parts: the report, and the files beside it. */
bool count_write_report(struct count_command *count);
bool count_write_files(struct count_command *count);

#endif

/* One `tare count` at work: count_prepare() ──► count_measure() ──► count_finish() ──► reports ──► count_keep(). */
#ifndef TARE_CLI_COUNT_H
#define TARE_CLI_COUNT_H

#include <signal.h>

#include "base/arena.h"
#include "cli/explain_costs.h"
#include "cli/count_openmetrics.h"
#include "cli/count_options.h"
#include "cli/count_output.h"
#include "compat/parameters.h"
#include "session/apart.h"
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
	struct apart apart;
	struct ranks_folder *ranks;
	bool told_files;          /* the user was told where the ranks' counts are */
	struct costs_found costs; /* --costs */
	struct runs *runs;        /* the store, when it was opened for what is verified */
	struct arena arena;
};

/* Everything up to the measurement; *code is what to exit with on failure. */
bool count_prepare(struct count_command *count, int *code, struct error *err);
bool count_measure(struct count_command *count, struct error *err);
/* What was measured becomes what is reported: net, in the order of asking, with names for its places. `code` is
 * what to exit with if all goes well; returns what to exit with. */
int count_finish(struct count_command *count, int code);
/* After the report is out: a store that fails takes nothing away from it. */
void count_keep(const struct count_command *count);

/* Writes the reports and the files that were asked for. False when some of it did not arrive there: then it was
 * said. */
bool count_write_reports(struct count_command *count);
/* Its parts: the report, and the files beside it. */
bool count_write_report(struct count_command *count);
bool count_write_files(struct count_command *count);

#endif

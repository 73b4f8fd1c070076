/* What commands share that keep runs, or read them: the options --store and --no-store, and what is said when a
 * run is not kept. */
#ifndef TARE_CLI_STORE_OPTIONS_H
#define TARE_CLI_STORE_OPTIONS_H

#include "cli/options.h"
#include "session/keep.h"

/* Option ids from here on are store_apply()'s. */
enum { STORE_BASE = 3000, STORE_FILE, STORE_OFF, STORE_END };

/* Rows of a command's option table: of one that reads the store … */
#define STORE_OPTION_ROW                                                                                          \
	{                                                                                                         \
		0, "store", "FILE",                                                                               \
			"the store of runs (default: TARE_STORE, else tare/tare.db in XDG_DATA_HOME)", STORE_FILE \
	}
/* … and of one that keeps runs in it. */
#define STORE_OPTION_ROWS                                                                                         \
	{0, "store", "FILE", "keep the run in this store; see tare-store(5)", STORE_FILE},                        \
	{                                                                                                         \
		0, "no-store", NULL, "do not keep the run", STORE_OFF                                             \
	}

/* Is it one of these options? Then it is taken over. */
bool store_apply(struct keeping *keeping, int id, const char *value);

/* Keeps a run whose report was written; says what was not kept, and why. verbose: says what was. The result is the
 * caller's still. */
void store_keep(const struct keeping *keeping, struct kept_run *run, bool verbose);
/* Likewise of one of several runs. said: of the first of them zeroed; the reason that was given last is not given
 * again. what: "these runs are" */
void store_keep_one_of(const struct keeping *keeping, struct kept_run *run, bool verbose, const char *what,
		       struct error *said);

/* Opens the store for a command that is about it. */
bool store_open(const struct keeping *keeping, enum runs_access access, struct runs **out, struct error *err);

#endif

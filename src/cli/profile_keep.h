/* A profile that is kept in the store of runs: while it is taken it is a file in memory, or the user's own. */
#ifndef TARE_CLI_PROFILE_KEEP_H
#define TARE_CLI_PROFILE_KEEP_H

#include "cli/profile_options.h"
#include "session/keep.h"

struct profile;

struct profile_keep {
	int memory; /* the file's descriptor; -1: none */
	char path[40];
};

/* Before: *file is where the profile goes (-o), or NULL: then it is set to a file in memory, if runs are kept. */
void profile_keep_begin(struct profile_keep *keep, const struct keeping *keeping, const char **file);

/* After the report: keeps what is in `file`; releases the memory. profile NULL: nothing is kept. */
void profile_keep_end(struct profile_keep *keep, const struct keeping *keeping, const char *file,
		      const struct profile *profile, const struct show_request *show);

#endif

/* `tare count` as one rank of several (mpirun, srun): names of files with %r, and one report of all ranks. */
#ifndef TARE_CLI_COUNT_RANKS_H
#define TARE_CLI_COUNT_RANKS_H

#include "cli/count.h"
#include "report/report.h"

/* Which rank this is, and whether it reports with the others: count->launched and count->joint; fills in the
 * request's names of files. ERROR_USAGE: the request does not go with ranks. */
bool count_ranks_find(struct count_command *count, struct error *err);

/* Takes this rank's place, before its program starts. Nothing where it does not report with the others. */
bool count_ranks_begin(struct count_command *count, struct error *err);

/* Leaves the counts for the others, and reports all of them if this rank is the last. code: what to exit with if
 * all goes well; returns what to exit with. */
int count_ranks_finish(struct count_command *count, int code);

/* Writes a job's report, and says what goes wrong. False: it did not arrive. */
bool count_ranks_write(struct output *output, const struct job *job, enum format format, bool per_rank,
		       struct report_options options);

#endif

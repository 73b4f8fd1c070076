/* tare report --merge: results of several processes, in files, as one report. */
#ifndef TARE_CLI_REPORT_MERGE_H
#define TARE_CLI_REPORT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/profile_options.h"
#include "report/report.h"

/* paths[n]: files of tare count --json. output: NULL: standard output. Returns the exit code: TARE_CANNOT_MEASURE
 * where a rank or a result is missing. */
int report_merge(char *const *paths, size_t n, enum show_format format, bool per_rank, const char *output,
		 const struct report_options *options);

#endif

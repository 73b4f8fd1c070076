/* What is told while `tare count` runs: -v's lines, or on a terminal one line with the time left. */
#ifndef TARE_CLI_COUNT_PROGRESS_H
#define TARE_CLI_COUNT_PROGRESS_H

#include <stdbool.h>

#include "cli/progress_line.h"
#include "measure/measure.h"

struct progress {
	unsigned verbose;
	bool line; /* show the line: standard error is a terminal that nothing else writes to */
	struct progress_line on_terminal;
	size_t repetitions;
	const char *name; /* of the program; NULL: none */
};

/* For struct measure_options; context is a struct progress. */
void progress_show(void *context, const struct measure_progress *now);
/* Erases the line. */
void progress_end(struct progress *progress);

#endif

/* Rows of `tare count -I`, written while the program runs. */
#ifndef TARE_CLI_COUNT_INTERVALS_H
#define TARE_CLI_COUNT_INTERVALS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/count_options.h"
#include "measure/intervals.h"
#include "session/trusting.h"

struct interval_rows {
	FILE *out;
	enum format format;
	int width;   /* of the terminal; 0: it is none */
	bool headed; /* the headings are written */
	bool wide;   /* a row has all events side by side; else each has a line of its own */
	const struct session_trusts *trusts; /* NULL: nothing was verified here. Borrowed */
};

/* As interval_tell: a row of text, or a JSON object on a line. What cannot be written is found at the report. */
void interval_row(void *rows, const struct time_interval *interval);

#endif

/* Reports to where they were asked for, and to standard error when that fails: nothing measured is lost. */
#ifndef TARE_CLI_COUNT_OUTPUT_H
#define TARE_CLI_COUNT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct output {
	const char *path; /* NULL: standard error; "-": standard output */
	FILE *stream;
};

/* Opens before anything is measured, so that a wrong path costs no measurement. */
bool output_open(struct output *output, const char *path, struct error *err);

/* Writes what render() writes, and closes. False when it did not arrive there; then it is on standard error, as
 * far as that works, and a message said so. */
bool output_write(struct output *output, void (*render)(FILE *out, void *context), void *context);

/* Closes without writing, and leaves no empty file. */
void output_abandon(struct output *output);

#endif

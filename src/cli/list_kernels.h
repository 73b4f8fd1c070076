/* tare list kernels: the programs with known counts in a line each, or one of them with all of its predictions. */
#ifndef TARE_CLI_LIST_KERNELS_H
#define TARE_CLI_LIST_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "report/json_writer.h"
#include "trust/kernels.h"

struct kernel_listing {
	bool verbose, names;
	struct json *json; /* NULL: text */
	/* one that names a kernel: that one, with its formulas; else a row must have each of them */
	char *const *words;
	int n_words;
	size_t width;
};

/* Prints; *shown: how many rows. */
bool list_kernels(const struct kernel_listing *listing, size_t *shown, struct error *err);

/* The kernels whose prediction of the event depends on n: names, then NULL, in the arena. NULL: memory ran
 * out. */
const char *const *kernels_that_move(const struct kernels *kernels, const char *event, struct arena *arena);

#endif

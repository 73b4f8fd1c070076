/* tare list machines: the declared machines in a line each, or one of them drawn with the source of every value.
 */
#ifndef TARE_CLI_LIST_MACHINES_H
#define TARE_CLI_LIST_MACHINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "report/json_writer.h"

struct machine_listing {
	bool verbose, names;
	struct json *json; /* NULL: text */
	char *const *
		words; /* one that names a machine or a file: that one, drawn; else a row must have each of them */
	int n_words;
	size_t width;
};

/* Prints; *shown: how many rows. */
bool list_machines(const struct machine_listing *listing, size_t *shown, struct error *err);

#endif

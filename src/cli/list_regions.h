/* tare list regions: parts of programs that kept runs counted, those of the newest runs first. */
#ifndef TARE_CLI_LIST_REGIONS_H
#define TARE_CLI_LIST_REGIONS_H

#include <stdbool.h>

#include "report/json_writer.h"
#include "session/keep.h"

struct region_listing {
	struct keeping keeping;
	bool names;         /* places alone, as --region takes them, each once */
	struct json *json;  /* NULL: text */
	char *const *words; /* a row must have each of them */
	int n_words;
	bool colour;
	size_t width;
};

/* Prints; *shown: how many rows. */
bool list_regions(const struct region_listing *listing, size_t *shown, struct error *err);

#endif

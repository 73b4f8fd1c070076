/* --region: from what was said to places of the program that will be started. */
#ifndef TARE_CLI_COUNT_REGIONS_H
#define TARE_CLI_COUNT_REGIONS_H

#include "backend/backend.h"
#include "cli/count_options.h"
#include "symbol/places.h"

struct count_regions {
	struct region_asked *asked; /* in the arena */
	size_t n;
	struct arena arena;
};

/* ERROR_USAGE: something is wrong with what was said; other errors are of the program. */
bool count_regions_find(struct count_regions *regions, const struct count_request *request, const struct command *command, struct error *err);
void count_regions_free(struct count_regions *regions);

#endif

/* Places of the program that will be started, found by symbol: FUNCTION, FILE:FIRST-LAST, 0xLOW-0xHIGH,
 * LIBRARY!PLACE. */
#ifndef TARE_SESSION_REGIONS_H
#define TARE_SESSION_REGIONS_H

#include "backend/backend.h"
#include "base/arena.h"
#include "symbol/places.h"

struct session_regions {
	struct region_asked *asked; /* in the arena */
	size_t n;
	bool patterns; /* one of the texts was a pattern: asked[i] is not of texts[i] */
	struct arena arena;
};

/* texts[n] as place_parse() has them; a pattern is a region for each function that fits. ERROR_USAGE: something is
 * wrong with what was said; other errors are of the program. */
bool session_regions_find(struct session_regions *regions, const char *const *texts, size_t n,
			  const struct command *command, struct error *err);
void session_regions_free(struct session_regions *regions);

/* Of a failed measuring with regions: are these not counted here, or not for this user, though commands are? */
bool session_regions_refused(const struct error *err);

#endif

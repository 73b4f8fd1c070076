/* A profile to look through on a terminal: lists of functions and lines, and from there into source, instructions,
 * callers and callees. */
#ifndef TARE_CLI_BROWSE_H
#define TARE_CLI_BROWSE_H

#include <stdbool.h>

#include "base/error.h"
#include "report/profile.h"

/* Until the user ends it. by: with which list it begins; event: of whose counts. False with *err when the terminal
 * cannot be drawn on, or memory ran out. */
bool browse_profile(const struct named_profile *named, enum profile_by by, size_t event, bool colour,
		    struct error *err);

#endif

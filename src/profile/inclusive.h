/* What took place in functions and in all that they called, by an exact call graph. */
#ifndef TARE_PROFILE_INCLUSIVE_H
#define TARE_PROFILE_INCLUSIVE_H

#include "result/named_profile.h"

/* With arcs a function's inclusive count is what was called from elsewhere, a line's its own and what it
 * called; or the row is nested (nested.h). Does nothing without arcs. out->arcs are there, and the rows' own
 * counts. False when memory ran out. */
bool named_add_arcs(struct named_profile *out, const struct profile *p);

#endif

/* Runs that are kept: into the store (store/runs/runs.h) with their surroundings, and out of it. */
#ifndef TARE_SESSION_KEEP_H
#define TARE_SESSION_KEEP_H

#include <stdbool.h>

#include "base/error.h"
#include "store/runs/runs.h"

/* Which store; as the command line says. */
struct keeping {
	const char *store; /* --store; NULL: as runs_path() finds it */
	bool off;          /* --no-store */
	/* Where a command reads the store and then keeps a run, both by one opening, which takes as long as the
	 * rest of keeping: the store as it was opened, for the owner of this to close. NULL: each its own */
	struct runs **shared;
};

/* Opens the store. ERROR_NOT_FOUND with an empty text: it is switched off. */
bool keep_open(const struct keeping *keeping, enum runs_access access, struct runs **out, struct error *err);
/* Unless it is shared. */
void keep_close(const struct keeping *keeping, struct runs *runs);

/* Are runs to be kept? Also where there is no place for them: keep_run() says why. */
bool keep_is_on(const struct keeping *keeping);

/* Keeps a run that just ended: of *run, what was measured is given (kind, shown, top, result, profile); the rest
 * is found here. True also where keeping is switched off: then run->id is 0. *run is to be freed with
 * keep_free(). */
bool keep_run(const struct keeping *keeping, struct kept_run *run, struct error *err);

/* Keeps the run with this id once more, as one of a comparison's. */
bool keep_compared(const struct keeping *keeping, int64_t id, const char *comparison, struct kept_side *side,
		   struct error *err);

/* What keep_run() found; the result is the caller's. */
void keep_free(struct kept_run *run);

/* "measured by tare 0.1; this is tare 0.2"; NULL when memory ran out. */
const char *keep_version_text(struct arena *arena, const char *version);

/* Loads what a word names ("@last", "17", "NAME"); of a run that another version of tare measured, its result has
 * a note that says so. To be freed by kept_run_free(). */
bool keep_load(const struct keeping *keeping, const char *word, struct kept_run *run, struct error *err);

#endif

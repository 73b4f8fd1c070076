/* Where a profile is taken: in regions (callgrind's --toggle-collect), or from one place of code to another
 * (pfmon's triggers on code addresses, perf's --switch-on-event). */
#ifndef TARE_SESSION_PROFILE_PLACES_H
#define TARE_SESSION_PROFILE_PLACES_H

#include "backend/sampling.h"
#include "profile/collect.h"
#include "session/regions.h"
#include "session/session.h"

/* As place_parse() has them (symbol/places.h); all borrowed. */
enum { PROFILE_PLACES_MOST = 64 };

struct profile_places {
	const char *const *inside, *const *begin, *const *end;
	size_t n_inside, n_begin, n_end;
};

static inline size_t profile_places_count(const struct profile_places *p)
{
	return p->n_inside + p->n_begin + p->n_end;
}

struct found_places {
	struct session_regions regions;
	struct sampling_places places;
};

/* Of the program that is started, or of the first process. *out is the caller's, to be freed by
 * session_regions_free(), also after a failure. */
bool profile_places_find(struct session *session, const struct profile_places *asked, struct found_places *out,
			 struct error *err);
/* Of a session that counts: its places will be those of what is executed in the regions (nothing, where none is
 * asked for). ERROR_USAGE: what it cannot count there. */
bool profile_places_add(struct session *session, const struct profile_places *asked, bool call_graph,
			struct error *err);
/* Of its result: the note on what was counted. False when memory ran out. */
bool profile_places_counted(const struct session *session, struct profile *profile);
/* Adds what a reader has to know: how often the places were come to, and what was left out. */
bool profile_places_note(struct collector *collector, const struct profile_places *asked,
			 const struct sampling_bounds_account *account, uint64_t elapsed_ns, struct error *err);

#endif

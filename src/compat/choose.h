/* The events that run_p5mon's parameters and perfex's numbers ask for, added to a session. */
#ifndef TARE_COMPAT_CHOOSE_H
#define TARE_COMPAT_CHOOSE_H

#include "compat/parameters.h"
#include "session/session.h"

/* The events that the parameters set to yes, at the levels that they choose. p5mon_labels: under run_p5mon's
 * names. */
bool p5mon_choose(struct session *session, const struct parameters *parameters, bool p5mon_labels,
		  struct error *err);

/* perfex's two counters: which event each has. */
struct perfex_chosen {
	long counter[2]; /* -1: none */
};
enum { PERFEX_NONE = -1 };

/* perfex's -e: a number, at most one a counter; anything else is a list of tare's own. */
bool perfex_choose(struct session *session, const char *list, struct perfex_chosen *chosen, struct error *err);
/* perfex's -a: all of its events. */
bool perfex_choose_all(struct session *session, struct error *err);

#endif

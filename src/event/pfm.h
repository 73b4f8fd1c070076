/* libpfm4's names ("skl::INST_RETIRED:ANY_P"); for the files of src/event/ only.
 *
 * libpfm4 keeps process-wide state, made by its first call; these functions may be called in any order, but
 * the first of them not by two threads at once. */
#ifndef TARE_EVENT_PFM_H
#define TARE_EVENT_PFM_H

#include <stdbool.h>

#include "event/event.h"

/* Has a PMU's name in front, "pmu::event…", so it can only be libpfm4's. */
bool pfm_has_form(const char *name);

/* Is the event (up to the first ':' or '.') in libpfm4's table of some PMU, of this machine or not? */
bool pfm_knows(const char *name);

/* Encodes for a PMU that is here (absent_pmus: or elsewhere). ERROR_UNSUPPORTED when the machine's PMUs
 * have no such event; ERROR_USAGE when the name is one that must not be counted by, such as a level inside. */
bool pfm_encode(const char *name, bool absent_pmus, struct event_encoding *out, struct error *err);

#endif

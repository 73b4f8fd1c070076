/* libpfm4's names ("skl::INST_RETIRED:ANY_P"); for the files of src/event/ only.
 *
 * libpfm4 keeps process-wide state, made by its first call; these functions may be called in any order, but
 * the first of them not by two threads at once. */
#ifndef TARE_EVENT_PFM_H
#define TARE_EVENT_PFM_H

#include <stdbool.h>

#include "event/event.h"

/* Is it of the form "pmu::event…"? Then it can only be libpfm4's. */
bool pfm_has_form(const char *name);

/* Does libpfm4 know a PMU of that name (without case), here or elsewhere? */
bool pfm_has_pmu(const char *name, size_t length);

/* The names of the events of all PMUs, of this machine or not, sorted without case, each once. It takes 5 ms, so
 * it is kept once it was needed. */
struct pfm_names {
	const char **names; /* libpfm4's own strings */
	size_t count;
};
bool pfm_names_collect(struct pfm_names *out, struct error *err);
void pfm_names_free(struct pfm_names *names);

/* Is name's event, up to the first ':' or '.', one of them? */
bool pfm_names_has(const struct pfm_names *names, const char *name);

/* Encodes for a PMU that is here (absent_pmus: or elsewhere). ERROR_UNSUPPORTED when the machine's PMUs
 * have no such event; ERROR_USAGE when the name is one that must not be counted by, such as a level inside. */
bool pfm_encode(const char *name, bool absent_pmus, struct event_encoding *out, struct error *err);

#endif

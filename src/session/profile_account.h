/* What became of the events of a profile, as the backend accounts for it. */
#ifndef TARE_SESSION_PROFILE_ACCOUNT_H
#define TARE_SESSION_PROFILE_ACCOUNT_H

#include "backend/sampling.h"
#include "profile/collect.h"

/* accounts[n_events], in the profile's order. */
bool profile_account_take(struct profile *profile, const struct sampling_account *accounts, struct error *err);

/* The part of the time in which the event had a counter: 1, or less where events took turns (multiplexing). */
double profile_account_part(const struct sampling_account *account);

/* Adds a note of each event that took turns, or whose counter was taken away: that has no total then. */
bool profile_account_note(struct collector *collector, const struct sampling_account *accounts, struct error *err);

#endif

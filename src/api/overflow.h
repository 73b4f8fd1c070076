/* The user's handlers on overflow, as the rest of libtare sees them. */
#ifndef TARE_API_OVERFLOW_H
#define TARE_API_OVERFLOW_H

#include "api/counters.h"

/* Lets the overflows of a set's events interrupt its thread, or no more. False with errno. */
bool overflows_switch(const struct tare_counters *c, bool on);
/* Ends all of a set's. In a forked child the parent's stay as they are. */
void overflows_end(const struct tare_counters *c);

#endif

/* Does the engine work here? Decided once by running a small program whose counts are known (trial.S). */
#ifndef TARE_BACKEND_EXACT_TRIAL_H
#define TARE_BACKEND_EXACT_TRIAL_H

#include "backend/backend.h"

struct trial {
	bool traced; /* set before: of the access stream, too */
	bool done, passed;
	char why[256], remedy[256];
};

bool trial_passed(struct trial *trial);

/* A finding of that, for diagnose(): NO with the reason, or WORKS, whose detail the caller says. NULL: there is no room, or it is NO. */
struct finding *trial_finding(struct trial *trial, const char *what, struct finding *findings, size_t most, size_t *count);

#endif

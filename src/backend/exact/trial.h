/* Does the engine work here? Decided once by running a small program whose counts are known (trial.S). */
#ifndef TARE_BACKEND_EXACT_TRIAL_H
#define TARE_BACKEND_EXACT_TRIAL_H

#include <stdbool.h>

struct trial {
	bool traced; /* set before: of the access stream, too */
	bool done, passed;
	char why[256], remedy[256];
};

bool trial_passed(struct trial *trial);

#endif

/* Does the engine work here, and what of it? Decided once by running a small program that moves every count, by a
 * number that is known (trial.S). */
#ifndef TARE_BACKEND_ENGINE_TRIAL_H
#define TARE_BACKEND_ENGINE_TRIAL_H

#include "backend/backend.h"
#include "backend/engine/events.h"

struct engine_trial {
	bool traced; /* set before: also of the access stream */
	/* set before, for tests: groups of instructions that are left out as if this processor did not have
	 * them */
	unsigned without;
	bool done, passed;
	char why[256], remedy[256];
	bool wrong[COUNTS]; /* of passed: this count was not what it must be */
};

bool trial_passed(struct engine_trial *trial);
/* Of one that has passed: was the event's own class counted rightly? */
bool trial_counts(struct engine_trial *trial, const struct exact_event *event);

/* The groups of instructions that this processor has, of those that trial.S keeps apart; and what is true of a
 * count with these. False when the program does not move it. */
unsigned trial_groups(void);
bool trial_truth(enum exact_count count, unsigned groups, uint64_t *truth);

/* Runs the trial program in a record of these options. *injection is the caller's, also on failure. */
struct injection;
struct injection_options;
bool trial_execute(const struct injection_options *options, unsigned groups, struct injection **injection,
		   struct error *err);

/* A finding of that, for diagnose(): NO with the reason, or WORKS, whose detail the caller says. NULL: there is no
 * room, or it is NO. */
struct finding *trial_finding(struct engine_trial *trial, const char *what, struct finding *findings, size_t most,
			      size_t *count);

#endif

/*
 * Whether a struct machine is one that the core can run: the ranges that core/machine.h's comments give, and the
 * shape of its trees. The one place that knows the limits; conf.c asks it with the lines of a file, tests and
 * backends with a struct that they made.
 */
#ifndef TARE_MODEL_DECLARE_CHECK_H
#define TARE_MODEL_DECLARE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/core/machine.h"

/* Where a machine is wrong, in the words of a machine file. */
struct machine_fault {
	const char *stanza; /* a component's name (borrowed of the machine), or "machine", "branches", "targets" */
	const char *key;    /* "ways" */
	char why[200];      /* "3 ways: a tree PLRU needs a power of two" */
	char hint[200];     /* what to do, or empty */
};

/* False: *fault says what is wrong. */
bool machine_is_sound(const struct machine *machine, struct machine_fault *fault);

#endif

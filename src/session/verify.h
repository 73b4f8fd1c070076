/* tare's own studies of how far its numbers can be trusted here, without a terminal. */
#ifndef TARE_SESSION_VERIFY_H
#define TARE_SESSION_VERIFY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "result/sampling_study.h"

enum { VERIFY_PERIODS = 9 }; /* Wu and Mencer's: 64K … 16M, doubling */

struct verify_sampling {
	char *const *program; /* with its arguments; its input is /dev/null, its output that of the exact run */
	const char *event;    /* NULL: cycles where they can be sampled, else the CPU clock */
	uint64_t shortest;    /* the first period, in the event's unit; 0: 65536, of clocks 250,000 ns */
	uint64_t seed;
	bool quick;                             /* of the suite: four programs alone */
	bool silent;                            /* nor is the exact run's output shown */
	const volatile sig_atomic_t *interrupt; /* interrupt_catch() */
};

/* Counts the program's executed instructions once, and samples it at VERIFY_PERIODS periods, each twice the one
 * before, with gaps of period + uniform(0, period/8). On success the caller frees the study with
 * sampling_study_free(). A program that ends with another status than in its exact run is an error: what is
 * compared has to be the same. */
bool session_verify_sampling(const struct verify_sampling *asked, struct sampling_study *out, struct error *err);
void sampling_study_free(struct sampling_study *study);

#endif

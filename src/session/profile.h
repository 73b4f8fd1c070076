/*
 * Profiling between its options and its report, without a terminal: samples by a backend that samples, or counts
 * by place of one that counts exactly.
 *
 *     session_open ──► session_add_profile_events ──► session_profile ──► session_close
 */
#ifndef TARE_SESSION_PROFILE_H
#define TARE_SESSION_PROFILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/sampling.h"
#include "base/error.h"
#include "measure/measure.h"
#include "result/named_profile.h"
#include "result/profile.h"
#include "session/control.h"
#include "session/experiment.h"
#include "session/profile_places.h"
#include "session/session.h"

struct profiling {
	enum profile_gaps gaps; /* FIXED, JITTER, EXPONENTIAL, RATE */
	uint64_t gap;           /* of events that name none (event@GAP); 0: a default of each */
	/* of a backend that counts exactly: with a gap, the samples of a simulated counter, each of which is found
	 * so many instructions after its event */
	uint32_t skid;
	bool prime;  /* of FIXED: the gap is the next prime number */
	double rate; /* of RATE */
	/* sets of events take turns of so much of the program's time; 0: all events at once. set_ends[n_sets]: how
	 * many events the session had when a set's were added */
	uint64_t turn_ns;
	const size_t *set_ends;
	size_t n_sets;
	uint64_t seed;
	uint32_t redraw;            /* 0: the backend's default */
	enum profile_stacks stacks; /* EXACT: of what is counted, the call graph */
	uint32_t stack_bytes;
	uint64_t delay_ns;               /* sampling begins so long after the program */
	bool disabled;                   /* … or when an order says so */
	struct profile_control *control; /* orders while it runs; NULL: none */
	uint64_t for_ns;                 /* without a program: it ends after this; 0: until the target does */
	uint64_t timeout_ns;             /* a program is told to end after this (measure/waiting.h); 0: never */
	bool *timed_out;                 /* set where it was; may be NULL */
	/* each time that a thread leaves its CPU or comes to one, some ms later; NULL: not asked for. Only of a
	 * backend that samples */
	bool (*switched)(void *context, const struct sampled_switch *change, struct error *err);
	void *switched_context;
	bool moments;                 /* the profile also has the time of each sample */
	struct profile_places places; /* where it is taken; none: everywhere */
	const char *keep;             /* the file that keeps it, as it comes; NULL: none */
	/* … or one that is named when the process is known: SpeedShop's exe.exp.idPID (keep is NULL then) */
	const struct experiment *experiment;
	const volatile sig_atomic_t *interrupt; /* as measure_options has it */
};

/* A list as -e has it; NULL: cycles where they can be sampled, else the CPU clock. An event without a level is
 * sampled at both where that works, else at user level. ERROR_UNSUPPORTED, ERROR_PERMISSION: it cannot be sampled
 * here. */
bool session_add_profile_events(struct session *session, const char *list, struct error *err);

/* *out is the caller's, to be freed by profile_free() and free(). When the program was started, its status is in
 * (*out)->wait_status, whatever could be sampled. */
bool session_profile(struct session *session, const struct profiling *profiling, struct profile **out,
		     struct error *err);

/* How an execution is measured whose counts are known by place (of). ERROR_USAGE: there is no program to start. */
bool profile_exact_options(const struct session *session, const struct profiling *profiling, enum locations_of of,
			   struct measure_options *out, struct error *err);

/* Names its places; of shares that were sampled at random, intervals. *out is the caller's, to be freed by
 * named_profile_free() and free(). */
bool session_name_profile(const struct profile *profile, double confidence, struct named_profile **out,
			  struct error *err);

/* The same for a listing of functions: lines of files with hardly a count are left out (lines_left_out in
 * named_row). profile_list_wants_lines() says whether that shows. */
bool session_name_functions(const struct profile *profile, double confidence, struct named_profile **out,
			    struct error *err);

/* Frees both; NULL: it is not there. */
void session_free_named(struct named_profile *named, struct profile *profile);

/* Was it taken here, since this machine was started? Addresses of the kernel and of processes mean something until
 * it is started again. */
bool session_profile_is_of_this_boot(const struct profile *profile);

#endif

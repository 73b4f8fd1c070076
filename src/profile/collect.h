/*
 * Samples → a profile: the sink that a sampling passes its samples to. Keeps what is mapped where, makes places of
 * addresses, and counts.
 *
 *     collector_new ──► collector_sink() for sampling->prepare() … stop() ──► collector_finish
 *
 * What always holds:
 *  1. Memory is bounded by how many different places, stacks and tasks there are, not by samples.
 *  2. Every sample is in exactly one cell: one whose address is in no mapping is at a place of MODULE_UNKNOWN.
 *  3. A caller's place is its return address - 1. The user's part of a sample in the kernel begins where the
 *     program was: at its system call, or at the instruction that an interrupt or fault came to.
 *
 * Frame pointers lead from a frame to the one above. Code that has no frame of its own (a leaf; a function in its
 * first or last instructions) has its caller's frame pointer: the chain begins with the caller's caller, and the
 * caller would be missed. So the first caller is found by call frame information, and put in front of the chain
 * where the code's frame is not the one that the frame pointer leads to.
 */
#ifndef TARE_PROFILE_COLLECT_H
#define TARE_PROFILE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/sampling.h"
#include "base/error.h"
#include "result/profile.h"
#include "result/profile_builder.h"
#include "symbol/unwind.h"

struct collector;

struct collect_options {
	size_t n_events; /* in the order of the request */
	enum profile_stacks stacks;
	struct unwinder *unwinder; /* of samples with a copied stack; NULL: callers are the kernel's */
	/* Each sample as it is found, or NULL. so_far has its module, task and node, but cells of no meaning.
	 * False ends the sampling with *err. */
	bool (*keep)(void *context, const struct profile *so_far, const struct profile_sample *sample,
		     struct error *err);
	void *keep_context;
};

/* options is copied, what it points to is borrowed. On success *out is the caller's: collector_finish() or
 * collector_free(). */
bool collector_new(const struct collect_options *options, struct collector **out, struct error *err);
/* Lives as long as the collector. */
struct sampling_sink collector_sink(struct collector *collector);
/* The profile so far: its owner fills in events, command and machine, in its arena. */
struct profile *collector_profile(struct collector *collector);
bool collector_note(struct collector *collector, const char *note, struct error *err);

/* *out is the caller's, to be freed by profile_free() and free(); the collector is freed either way. */
bool collector_finish(struct collector *collector, struct profile **out, struct error *err);
void collector_free(struct collector *collector);

#endif

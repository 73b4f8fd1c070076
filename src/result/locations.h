/*
 * Where events of one execution took place, without names: what a backend knows of it. profile/breakdown.h names
 * and sums it up.
 *
 * What always holds of one that a backend filled in: a place is there once; for every event with places (why is
 * NULL) the sum of its counts over all places is the event's count: breakdown_new() compares it with the reading.
 */
#ifndef TARE_RESULT_LOCATIONS_H
#define TARE_RESULT_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum locations_of { LOCATIONS_NONE, LOCATIONS_OF_CODE, LOCATIONS_OF_DATA };

enum location_kind {
	LOCATION_CODE, /* an instruction: module, offset in its file */
	/* data of a module: `bytes` that are `beyond` bytes behind where offset in its file is in memory */
	LOCATION_STATIC,
	LOCATION_HEAP, /* blocks that were allocated at one site: frames */
	/* memory that was mapped, without a file or with one (module): frames if the site is known */
	LOCATION_MAPPING,
	LOCATION_STACK, /* any thread's */
	/* thread-local data of a module, all threads' together: the byte `beyond` of its block; module "": of
	 * which is not known */
	LOCATION_THREAD,
	LOCATION_ALLOCATOR, /* the heap outside of its blocks */
	LOCATION_OTHERS,    /* of sites that could not be told apart */
	LOCATION_UNKNOWN,   /* data that was not an object when it was touched */
};

struct location_frame { /* a return address */
	const char *module;
	uint64_t offset;
};

struct location {
	enum location_kind kind;
	/* as symbol/symbol.h has it; "" for memory of no file (offset is the address then); NULL: none */
	const char *module;
	uint64_t offset;
	uint32_t pid; /* CODE of no file: the process that executed it, which made it; 0: else */
	uint64_t beyond;
	bool writable;                       /* STATIC: the segment is */
	const struct location_frame *frames; /* of the allocation, innermost first */
	size_t n_frames;
	uint64_t blocks, bytes; /* HEAP: how many were allocated there, and their bytes together */
	uint64_t *counts;       /* n_events */
};

struct located_event {
	size_t event;    /* index among those that the backend was asked to count */
	const char *why; /* it has no places: why; NULL */
	/* for reports; filled in by who measures */
	const char *label, *unit, *machine;
	uint64_t total; /* its reading of the same execution */
	uint64_t lost;  /* samples that there was no room for */
};

/* One arc of the call graph: struct profile_arc has the rules. */
struct location_arc {
	/* caller NULL: the program, a thread or a process begins there */
	const char *caller, *callee;           /* modules, as in struct location */
	uint64_t caller_offset, callee_offset; /* the last byte of the call or jump; the function's first */
	uint32_t caller_pid, callee_pid;       /* as in struct location */
	uint64_t calls;
	uint64_t *inclusive; /* n_events */
};

struct locations {
	/* not 0: the places have samples, one for each `period` events, found `skid` instructions later (target's
	 * overflow_period); their sum is not the count */
	uint64_t period;
	uint32_t skid;
	bool inside; /* of what was executed in the regions asked for alone; an event's total is also theirs */
	struct arena arena;
	enum locations_of of;
	struct located_event *events;
	size_t n_events;
	struct location *all;
	size_t n;
	struct location_arc *arcs; /* if they were asked for */
	size_t n_arcs;
	const char *arcs_why; /* they were asked for and are not known: why; NULL */
	const char **notes;   /* what a reader of them has to know */
	size_t n_notes;
};

/* Everything takes place in what the program, its threads and processes begin with: the arcs without a caller have
 * the whole count of an event. */
static inline uint64_t locations_arcs_sum(const struct locations *locations, size_t event)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < locations->n_arcs; i++)
		sum += locations->arcs[i].caller ? 0 : locations->arcs[i].inclusive[event];
	return sum;
}

static inline void locations_free(struct locations *places)
{
	arena_free(&places->arena);
	*places = (struct locations){0};
}

#endif

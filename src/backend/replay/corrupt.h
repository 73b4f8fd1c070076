/* Counters that count wrong, on purpose: what a recording's key `corrupt` asks for is done to the readings at the
 * end of each execution. So the judge of counters (trust/verdict.h) is tried with known faults. */
#ifndef TARE_BACKEND_REPLAY_CORRUPT_H
#define TARE_BACKEND_REPLAY_CORRUPT_H

#include <stddef.h>
#include <stdint.h>

#include "result/result.h"

enum corruption_kind {
	CORRUPT_TIMES,      /* × by */
	CORRUPT_DIVIDE,     /* / by */
	CORRUPT_INTERRUPTS, /* + by for each fault and switch of the execution */
	CORRUPT_TICKS,      /* + 1 for each tick of a clock of `by` a second, of the program's CPU time */
	CORRUPT_DROP,       /* samples of `by` events: `percent` of them are left */
	CORRUPT_WRAP,       /* modulo by */
	CORRUPT_STUCK,      /* always by */
	CORRUPT_SWAP,       /* with the event `with` */
	CORRUPT_THROTTLE,   /* beyond `from` one of `by` */
	CORRUPT_SATURATE,   /* at most by */
	CORRUPT_ADD,        /* + the event `with` */
	CORRUPT_SOMETIMES,  /* × by, in `percent` of the executions */
};

struct corruption {
	size_t event; /* the recording's */
	enum corruption_kind kind;
	uint64_t by, from, percent;
	size_t with; /* of SWAP and ADD */
};

/* recorded: the value of any event in this execution and row, before it is corrupted. */
typedef uint64_t corrupt_recorded(const void *context, size_t event);

/* What the event shows instead of `count`. run: its account is the operating system's, of this execution.
 * execution: the number that chance depends on. */
uint64_t corrupt_count(const struct corruption *corruptions, size_t n, size_t event, uint64_t count,
		       const struct run *run, size_t execution, corrupt_recorded *recorded, const void *context);

#endif

/*
 * The call graph in the record: who called which function how often, and what took place in those calls. One such
 * area a process image, at process->calls, when the record has RECORD_CALLS; its parts go on in the same one, a
 * forked child has its own.
 *
 *     struct record_calls | modules | arcs
 *
 * What always holds:
 *  1. Entries [0, count) are complete before the count includes them, and never change, but for calls and
 *     inclusive, which only grow.
 *  2. An arc (site, callee) is there once. `inclusive` of all arcs without a site adds up to the process's count.
 */
#ifndef TARE_ENGINE_WIRE_CALLS_H
#define TARE_ENGINE_WIRE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/wire/record.h"

#define RECORD_CALL_MODULES 4096u
#define RECORD_CALL_ARCS (1u << 21)
/* … of a process under a limit on memory that leaves no room for so many (runtime/os/limits.c) */
#define RECORD_CALL_MODULES_LIMITED 512u
#define RECORD_CALL_ARCS_LIMITED (1u << 15)

/* nothing called it. Not 0: a handler's caller is where the signal came, and a call of NULL faults at 0. */
#define RECORD_NO_SITE (~0ull)

struct record_call_arc {
	uint64_t site;                       /* address of the call's or jump's last byte; or RECORD_NO_SITE */
	uint64_t callee;                     /* address of the function's first byte */
	uint32_t site_module, callee_module; /* of `modules`; RECORD_NONE: memory of no file */
	uint64_t calls;
	uint64_t inclusive[RECORD_CALL_EVENTS];
};

enum record_calls_lost { /* bits: room ran out, the arcs are not complete */
			 RECORD_LOST_ARCS = 1,
			 RECORD_LOST_FRAMES = 2,    /* calls were nested too deeply */
			 RECORD_LOST_FUNCTIONS = 4, /* too many functions */
			 RECORD_LOST_STACKS =
				 8, /* too many stacks, or too deep ones, that threads switch between */
			 /* a conditional branch to the instruction behind it: taken or not, it goes there */
			 RECORD_LOST_BRANCHES = 16,
};

struct record_calls {
	uint32_t n_modules, n_arcs, n_events, lost;
	uint32_t most_modules, most_arcs; /* that there is room for */
	uint64_t modules, arcs;           /* offsets from here: struct record_module, struct record_call_arc */
	uint64_t bytes;
};

static inline void record_calls_lay_out(struct record_calls *c, uint32_t n_events, bool limited)
{
	c->n_events = n_events;
	c->most_modules = limited ? RECORD_CALL_MODULES_LIMITED : RECORD_CALL_MODULES;
	c->most_arcs = limited ? RECORD_CALL_ARCS_LIMITED : RECORD_CALL_ARCS;
	c->modules = 4096;
	c->arcs = c->modules + c->most_modules * sizeof(struct record_module);
	c->bytes = c->arcs + (uint64_t)c->most_arcs * sizeof(struct record_call_arc);
}

/* The answer to RECORD_ASK_FUNCTIONS, at process->functions: the code of the module's functions as offsets in its
 * file, [low, high), in ascending order, none overlapping, and where the function begins. */
struct record_function {
	uint64_t begins, low, high;
};
struct record_functions {
	uint64_t n;
	struct record_function all[];
};

_Static_assert(sizeof(struct record_call_arc) == 96, "as it says");
#endif

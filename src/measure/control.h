/*
 * Counting that is turned on and off while the program runs: after a delay, or by commands from outside.
 *
 * Commands come as lines through a descriptor (a FIFO), the words of perf-stat(1) --control:
 *
 *     enable    count from now on
 *     disable   do not, until the next enable
 *     read      tell what was counted since the last time (measure/intervals.h)
 *     ping      nothing but an answer
 *
 * Each gets "ack" and a line's end as its answer when it is done, or "error" and the reason, where a descriptor
 * for answers is given. The operating system's account of a program (times, peak memory) is of the whole run, on
 * or off.
 */
#ifndef TARE_MEASURE_CONTROL_H
#define TARE_MEASURE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/backend.h"
#include "measure/intervals.h"

enum { CONTROL_LINE_MOST = 256 };

struct switching {
	/* Set by the caller. Zeroed: counting is on from begin to end. */
	bool begins_off;
	uint64_t delay_ns; /* of begins_off: on after this; 0: when a command says so */
	bool has_commands;
	int commands, answers; /* descriptors, the caller's; answers: -1 where there is none */
	/* inside */
	bool on;
	uint64_t on_at_ns; /* UINT64_MAX: no delay is under way */
	char line[CONTROL_LINE_MOST];
	size_t used;
	bool too_long; /* the line that is being read; its rest is skipped */
};

/* Does the execution need a backend that can be turned on and off? */
static inline bool control_wanted(const struct switching *control)
{
	return control->begins_off || control->has_commands;
}

/* The error of a backend that cannot; returns false. */
bool control_refuse(const char *backend, struct error *err);

/* The execution begins now. */
void control_begin(struct switching *control, uint64_t now_ns);
/* Does what is due. intervals: told on "read"; so_far: room for their events. False with the reason when counting
 * could not be turned on by the delay: nothing would be counted. */
bool control_tick(struct switching *control, const struct backend_operations *operations,
		  struct counting *counting, struct intervals *intervals, struct reading *so_far, uint64_t now_ns,
		  struct error *err);

#endif

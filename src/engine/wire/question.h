/*
 * What a program's libtare asks of the engine: is this event counted, and how many until now (tare_add(),
 * tare_read() and what is over them). The library's set of counters has the question; the runtime copies it into
 * the record, the injection's attendant answers from the record, and the runtime copies the answer back.
 *
 *     libtare ──REGION_CALL_ASK──► runtime: who asks ──RECORD_ASK_COUNTS──► attendant: view ──► tally ──► values ──► libtare
 *
 * What always holds:
 *  1. The counts are those of the instant of the asking thread's last call of libtare: what is between that call
 *     and the asking is in no thread's `own` region (region.h), and is subtracted from a process's.
 *  2. The record's copy is shared with the program: the host copies it once, and believes no number in it.
 *  3. `bytes` is sizeof of this struct for both sides; another one is not answered.
 */
#ifndef TARE_ENGINE_WIRE_QUESTION_H
#define TARE_ENGINE_WIRE_QUESTION_H

#include <stdint.h>

#define QUESTION_EVENTS 64u
#define QUESTION_NAME 120u

enum question_scope { QUESTION_OF_THREAD, QUESTION_OF_PROCESS };

/* What became of one event. */
enum question_state {
	QUESTION_UNKNOWN,  /* not answered */
	QUESTION_EXACT,    /* `value` is of the program's instructions */
	QUESTION_MODELLED, /* … of the machine's model */
	QUESTION_REFUSED,  /* `why` says why there is no count */
};

struct question_event {
	char name[QUESTION_NAME]; /* as asked for, in the grammar of event/event.h; ended by 0 */
	char why[248], hint[248]; /* REFUSED */
	uint64_t value;
	uint32_t state, unused; /* enum question_state */
};

struct question {
	uint32_t bytes, answered; /* answered: 1 when the host has seen it */
	uint32_t n;               /* events: at most QUESTION_EVENTS */
	uint32_t scope;           /* enum question_scope */
	/* the runtime's: numbers of regions in the process's record, plus one; 0: none */
	uint32_t own;   /* what the asking thread executes outside of libtare's calls */
	uint32_t calls; /* what the process's threads execute in them */
	uint32_t asker; /* the runtime's: the asking thread */
	uint32_t unused;
	struct question_event events[QUESTION_EVENTS];
};

#endif

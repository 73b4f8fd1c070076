/*
 * What a program that runs under the engine is told of its own counters (engine/wire/question.h): the answers of
 * the injection's attendant, from the record as it is when the program asks.
 *
 * What always holds:
 *  1. A value is exact at the instant of the call that asked, or there is none: a thread's value is that of its
 *     own instructions outside of libtare's calls; a process's is that of all its threads without those calls.
 *  2. A modelled value is only given where the access stream of all that it counts has been run through the
 *     machine: a thread's to that thread, a process's while no other thread of it runs.
 *  3. Nothing is believed that the program may have written: names are parsed, indices are checked.
 */
#ifndef TARE_BACKEND_ENGINE_ANSWER_H
#define TARE_BACKEND_ENGINE_ANSWER_H

#include "backend/engine/counting.h"

struct question;

/* Borrowed for the injection's life; read in the attendant, as it was when that began. */
struct answer_context {
	const struct counting_models *models; /* n 0: no machine runs */
	/* the answering process's own, from its first question on: */
	struct event_table *table;
	struct knowledge *known; /* of the program's blocks */
};

/* An injection_answer: context is a struct answer_context. */
void answer_question(void *context, struct injection *injection, uint32_t index, struct question *question);

#endif

/*
 * Predicted counts: how many instructions, loads, stores, … a place of a program's file has, block by block,
 * without executing it. Korn and Nieto took their predictions from a compiler's assembly by grep and wc; this
 * reads the instructions themselves, so that a load that is part of an addition is one, and a nop with an
 * operand is none.
 *
 * x86-64 alone: what an instruction counts is what the engine's tables say of it (engine/x86/vector.h);
 * whether the engine executes and counts it so is what a comparison with `tare count --on exact --region` shows.
 */
#ifndef TARE_PREDICT_PREDICT_H
#define TARE_PREDICT_PREDICT_H

#include "base/error.h"
#include "event/event.h"
#include "result/prediction.h"

/* place: as symbol/places.h has them, found in `file` and no library. Events that depend on what is executed
 * (taken-branches, code-lines) are ERROR_USAGE, as is a place that cannot be read. */
bool predict(const char *file, const char *place, const struct event *events, size_t n_events,
	     struct prediction *out, struct error *err);

#endif

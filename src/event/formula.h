/* Arithmetic over named inputs: parsed once, evaluated with the error carried through.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = sign { ("*" | "/") sign }
 *     sign    = [ "-" ] atom
 *     atom    = number | name | "(" sum ")"
 *
 * A name begins with a letter; its further characters are letters, digits and - _ . : so minus needs a space. */
#ifndef TARE_EVENT_FORMULA_H
#define TARE_EVENT_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "event/metric.h"

enum {
	FORMULA_INPUTS_MOST = 32,
	FORMULA_STEPS_MOST = 256,
	FORMULA_DEPTH_MOST = 32, /* of parentheses, and of values that wait during evaluation */
};

struct formula_step;
struct formula {
	const struct formula_step *steps; /* in reverse Polish order */
	size_t n_steps;
	const char *const *inputs; /* names, each once, in order of first use */
	size_t n_inputs;
};

/* The formula lives in the arena. On failure the error's text has the column within the formula. */
bool formula_parse(const char *text, struct arena *arena, struct formula *out, struct error *err);

/* inputs[n_inputs]. See metric_evaluate(). */
bool formula_evaluate(const struct formula *f, const struct metric_input *inputs, struct metric_input *out,
		      struct error *err);

#endif

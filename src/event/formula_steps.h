/* A formula's inside: for formula.c, which makes it, and formula_evaluate.c. */
#ifndef TARE_EVENT_FORMULA_STEPS_H
#define TARE_EVENT_FORMULA_STEPS_H

#include "event/formula.h"

enum operation { PUSH_NUMBER, PUSH_INPUT, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE };

struct formula_step {
	enum operation operation;
	double number;    /* PUSH_NUMBER */
	size_t input;     /* PUSH_INPUT */
	const char *text; /* DIVIDE: what it divides by, for messages */
};

#endif

/* Evaluation carries the partial derivative by each input along (forward differentiation). The result's
 * half-widths are those of first-order propagation for independent inputs, each side for itself:
 *
 *     up² = Σ (∂f/∂xᵢ · sᵢ)²,  sᵢ = the side of input i that raises f: highᵢ − xᵢ when ∂f/∂xᵢ > 0, else xᵢ − lowᵢ
 *
 * and down² with the other side (JCGM 100:2008 "GUM", 5.1.2, equation 10). */
#include <math.h>

#include "event/formula_steps.h"

/* A value and its partial derivatives. */
struct dual {
	double value;
	double by[FORMULA_INPUTS_MOST];
};

/* left = left operation right */
static void combine(enum operation operation, struct dual *left, const struct dual *right, size_t n)
{
	double a = left->value, b = right->value;
	for (size_t i = 0; i < n; i++) {
		double da = left->by[i], db = right->by[i];
		left->by[i] = operation == ADD        ? da + db
			      : operation == SUBTRACT ? da - db
			      : operation == MULTIPLY ? da * b + a * db
						      : (da - a / b * db) / b;
	}
	left->value = operation == ADD        ? a + b
		      : operation == SUBTRACT ? a - b
		      : operation == MULTIPLY ? a * b
					      : a / b;
}

/* Leaves the result in stack[0]; the parser has seen to it that the stack is deep enough, and ends with one value.
 */
static bool run(const struct formula *f, const struct metric_input *inputs, struct dual *stack, struct error *err)
{
	size_t n = f->n_inputs, height = 0;
	for (size_t s = 0; s < f->n_steps; s++) {
		const struct formula_step *step = &f->steps[s];
		struct dual *top = &stack[height ? height - 1 : 0];
		switch (step->operation) {
		case PUSH_NUMBER: stack[height++] = (struct dual){.value = step->number}; break;
		case PUSH_INPUT:
			stack[height] = (struct dual){.value = inputs[step->input].value};
			stack[height++].by[step->input] = 1;
			break;
		case NEGATE:
			top->value = -top->value;
			for (size_t i = 0; i < n; i++)
				top->by[i] = -top->by[i];
			break;
		case DIVIDE:
			if (top->value == 0)
				return error_set(err, ERROR_UNSUPPORTED, "'%.200s' is 0 and divides", step->text);
			/* fall through */
		case ADD:
		case SUBTRACT:
		case MULTIPLY:
			height--;
			combine(step->operation, top - 1, top, n);
			break;
		}
	}
	return true;
}

bool formula_evaluate(const struct formula *f, const struct metric_input *inputs, struct metric_input *out,
		      struct error *err)
{
	for (size_t i = 0; i < f->n_inputs; i++) {
		if (!inputs[i].known)
			return error_set(err, ERROR_UNSUPPORTED, "'%.200s' was not counted", f->inputs[i]);
		if (!isfinite(inputs[i].value) || !(inputs[i].low <= inputs[i].value) ||
		    !(inputs[i].value <= inputs[i].high))
			return error_set(err, ERROR_UNSUPPORTED, "'%.200s' has no usable value", f->inputs[i]);
	}
	struct dual stack[FORMULA_DEPTH_MOST];
	stack[0] = (struct dual){0};
	if (!run(f, inputs, stack, err))
		return false;
	double up = 0, down = 0;
	for (size_t i = 0; i < f->n_inputs; i++) {
		double slope = stack[0].by[i];
		double above = inputs[i].high - inputs[i].value, below = inputs[i].value - inputs[i].low;
		if (slope == 0)
			continue; /* an input that does not matter may have an infinite interval */
		up = hypot(up, slope * (slope > 0 ? above : below));
		down = hypot(down, slope * (slope > 0 ? below : above));
	}
	if (!isfinite(stack[0].value) || isnan(up) || isnan(down))
		return error_set(err, ERROR_UNSUPPORTED, "the result is not a finite number");
	*out = (struct metric_input){true, stack[0].value, stack[0].value - down, stack[0].value + up};
	return true;
}

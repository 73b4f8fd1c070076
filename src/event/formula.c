/* Evaluation carries the partial derivative by each input along (forward differentiation). The result's
 * half-widths are those of first-order propagation for independent inputs, each side for itself:
 *
 *     up² = Σ (∂f/∂xᵢ · sᵢ)²,  sᵢ = the side of input i that raises f: highᵢ − xᵢ when ∂f/∂xᵢ > 0, else xᵢ − lowᵢ
 *
 * and down² with the other side (JCGM 100:2008 "GUM", 5.1.2, equation 10). */
#include "event/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum operation { PUSH_NUMBER, PUSH_INPUT, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE };

struct formula_step {
	enum operation operation;
	double number;    /* PUSH_NUMBER */
	size_t input;     /* PUSH_INPUT */
	const char *text; /* DIVIDE: what it divides by, for messages */
};

struct parser {
	const char *text, *at;
	struct arena *arena;
	struct error *err;
	struct formula_step steps[FORMULA_STEPS_MOST];
	size_t n_steps;
	const char *inputs[FORMULA_INPUTS_MOST];
	size_t n_inputs;
	unsigned depth; /* of parentheses and signs that are open */
	unsigned height; /* values that wait, at the step last added */
};

static bool fail(struct parser *p, const char *what)
{
	return error_set(p->err, ERROR_SYNTAX, "column %zu: %s", (size_t)(p->at - p->text) + 1, what);
}

static char next(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
	return *p->at;
}

static bool add_step(struct parser *p, struct formula_step step)
{
	if (p->n_steps == FORMULA_STEPS_MOST)
		return fail(p, "the formula is too long");
	p->steps[p->n_steps++] = step;
	if (step.operation == PUSH_NUMBER || step.operation == PUSH_INPUT)
		p->height++;
	else if (step.operation != NEGATE)
		p->height--;
	if (p->height > FORMULA_DEPTH_MOST)
		return fail(p, "the formula is too deep");
	return true;
}

static bool is_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.' || c == ':';
}

static bool parse_name(struct parser *p)
{
	const char *start = p->at;
	size_t length = 0, i = 0;
	while (is_name_character(start[length]))
		length++;
	/* "a -b" reads as a name and a minus without an operand's space; "a-" is no name of anything */
	if (start[length - 1] == '-' || start[length - 1] == ':')
		return fail(p, "a name cannot end in '-' or ':' (write spaces around minus)");
	while (i < p->n_inputs && !(strncmp(p->inputs[i], start, length) == 0 && p->inputs[i][length] == '\0'))
		i++;
	if (i == p->n_inputs) {
		if (i == FORMULA_INPUTS_MOST)
			return fail(p, "the formula names too many events");
		p->inputs[i] = arena_strndup(p->arena, start, length);
		if (!p->inputs[i])
			return error_no_memory(p->err);
		p->n_inputs++;
	}
	p->at += length;
	return add_step(p, (struct formula_step){ .operation = PUSH_INPUT, .input = i });
}

/* Digits, point and exponent, by hand: strtod(3) would also take "inf", "0x1p3" and the locale's point. */
static bool parse_number(struct parser *p)
{
	char digits[64];
	const char *start = p->at, *c = start;
	while (isdigit((unsigned char)*c) || *c == '.')
		c++;
	if ((*c == 'e' || *c == 'E') && (isdigit((unsigned char)c[1]) || (c[1] == '-' && isdigit((unsigned char)c[2]))))
		for (c += 2; isdigit((unsigned char)*c);)
			c++;
	double number;
	size_t length = (size_t)(c - start);
	if (length >= sizeof digits)
		return fail(p, "the number is too long");
	memcpy(digits, start, length);
	digits[length] = '\0';
	if (!str_to_double(digits, &number))
		return fail(p, "not a number");
	if (is_name_character(*c))
		return fail(p, "a name cannot begin with a digit");
	p->at = c;
	return add_step(p, (struct formula_step){ .operation = PUSH_NUMBER, .number = number });
}

static bool parse_sum(struct parser *p);

static bool parse_atom(struct parser *p)
{
	char c = next(p);
	if (isalpha((unsigned char)c))
		return parse_name(p);
	if (isdigit((unsigned char)c) || c == '.')
		return parse_number(p);
	if (c != '(')
		return fail(p, c ? "expected a number, an event or '('" : "the formula ends where a value is expected");
	if (++p->depth > FORMULA_DEPTH_MOST)
		return fail(p, "the formula is too deep");
	p->at++;
	if (!parse_sum(p))
		return false;
	if (next(p) != ')')
		return fail(p, "expected ')'");
	p->at++;
	p->depth--;
	return true;
}

static bool parse_sign(struct parser *p)
{
	bool negative = next(p) == '-';
	p->at += negative;
	return parse_atom(p) && (!negative || add_step(p, (struct formula_step){ .operation = NEGATE }));
}

static bool parse_product(struct parser *p)
{
	if (!parse_sign(p))
		return false;
	for (char c; (c = next(p)) == '*' || c == '/';) {
		p->at++;
		next(p);
		const char *start = p->at;
		if (!parse_sign(p))
			return false;
		struct formula_step step = { .operation = c == '*' ? MULTIPLY : DIVIDE };
		if (c == '/' && !(step.text = arena_strndup(p->arena, start, (size_t)(p->at - start))))
			return error_no_memory(p->err);
		if (!add_step(p, step))
			return false;
	}
	return true;
}

static bool parse_sum(struct parser *p)
{
	if (!parse_product(p))
		return false;
	for (char c; (c = next(p)) == '+' || c == '-';) {
		p->at++;
		if (!parse_product(p) ||
		    !add_step(p, (struct formula_step){ .operation = c == '+' ? ADD : SUBTRACT }))
			return false;
	}
	return true;
}

bool formula_parse(const char *text, struct arena *arena, struct formula *out, struct error *err)
{
	struct parser *p = calloc(1, sizeof *p);
	bool done = false;
	if (!p)
		return error_no_memory(err);
	*p = (struct parser){ .text = text, .at = text, .arena = arena, .err = err };
	if (!parse_sum(p))
		goto out;
	if (next(p)) {
		fail(p, "expected an operator");
		goto out;
	}
	struct formula_step *steps = arena_alloc(arena, p->n_steps * sizeof *steps);
	const char **inputs = arena_alloc(arena, (p->n_inputs + 1) * sizeof *inputs);
	if (!steps || !inputs) {
		error_no_memory(err);
		goto out;
	}
	memcpy(steps, p->steps, p->n_steps * sizeof *steps);
	memcpy(inputs, p->inputs, p->n_inputs * sizeof *inputs);
	*out = (struct formula){ steps, p->n_steps, (const char *const *)inputs, p->n_inputs };
	done = true;
out:
	free(p);
	return done;
}

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
		left->by[i] = operation == ADD	      ? da + db
			      : operation == SUBTRACT ? da - db
			      : operation == MULTIPLY ? da * b + a * db
						      : (da - a / b * db) / b;
	}
	left->value = operation == ADD	      ? a + b
		      : operation == SUBTRACT ? a - b
		      : operation == MULTIPLY ? a * b
					      : a / b;
}

/* Leaves the result in stack[0]; the parser has seen to it that the stack is deep enough, and ends with one value. */
static bool run(const struct formula *f, const struct metric_input *inputs, struct dual *stack, struct error *err)
{
	size_t n = f->n_inputs, height = 0;
	for (size_t s = 0; s < f->n_steps; s++) {
		const struct formula_step *step = &f->steps[s];
		struct dual *top = &stack[height ? height - 1 : 0];
		switch (step->operation) {
		case PUSH_NUMBER:
			stack[height++] = (struct dual){ .value = step->number };
			break;
		case PUSH_INPUT:
			stack[height] = (struct dual){ .value = inputs[step->input].value };
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
	stack[0] = (struct dual){ 0 };
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
	*out = (struct metric_input){ true, stack[0].value, stack[0].value - down, stack[0].value + up };
	return true;
}

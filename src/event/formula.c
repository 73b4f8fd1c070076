/* Parsing, by recursive descent. (Evaluation is in a file of its own: the library has tables with formulas in
 * them, and needs no libm to read them.) */
#include "event/formula_steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct formula_parser {
	const char *text, *at;
	struct arena *arena;
	struct error *err;
	struct formula_step steps[FORMULA_STEPS_MOST];
	size_t n_steps;
	const char *inputs[FORMULA_INPUTS_MOST];
	size_t n_inputs;
	unsigned depth;  /* of parentheses and signs that are open */
	unsigned height; /* values that wait, at the step last added */
};

static bool fail(struct formula_parser *p, const char *what)
{
	return error_set(p->err, ERROR_SYNTAX, "column %zu: %s", (size_t)(p->at - p->text) + 1, what);
}

static char next(struct formula_parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
	return *p->at;
}

static bool add_step(struct formula_parser *p, struct formula_step step)
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

static bool parse_name(struct formula_parser *p)
{
	const char *start = p->at;
	size_t length = 0, i = 0;
	while (is_name_character(start[length]))
		length++;
	/* "a -b" reads as a name and a minus without an operand's space; "a-" names nothing */
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
	return add_step(p, (struct formula_step){.operation = PUSH_INPUT, .input = i});
}

/* Digits, point and exponent, by hand: strtod(3) would also take "inf", "0x1p3" and the locale's point. */
static bool parse_number(struct formula_parser *p)
{
	char digits[64];
	const char *start = p->at, *c = start;
	while (isdigit((unsigned char)*c) || *c == '.')
		c++;
	if ((*c == 'e' || *c == 'E') &&
	    (isdigit((unsigned char)c[1]) || (c[1] == '-' && isdigit((unsigned char)c[2]))))
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
	return add_step(p, (struct formula_step){.operation = PUSH_NUMBER, .number = number});
}

static bool parse_sum(struct formula_parser *p);

static bool parse_atom(struct formula_parser *p)
{
	char c = next(p);
	if (isalpha((unsigned char)c))
		return parse_name(p);
	if (isdigit((unsigned char)c) || c == '.')
		return parse_number(p);
	if (c != '(')
		return fail(p, c ? "expected a number, an event or '('"
				 : "the formula ends where a value is expected");
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

static bool parse_sign(struct formula_parser *p)
{
	bool negative = next(p) == '-';
	p->at += negative;
	return parse_atom(p) && (!negative || add_step(p, (struct formula_step){.operation = NEGATE}));
}

static bool parse_product(struct formula_parser *p)
{
	if (!parse_sign(p))
		return false;
	for (char c; (c = next(p)) == '*' || c == '/';) {
		p->at++;
		next(p);
		const char *start = p->at;
		if (!parse_sign(p))
			return false;
		struct formula_step step = {.operation = c == '*' ? MULTIPLY : DIVIDE};
		if (c == '/' && !(step.text = arena_strndup(p->arena, start, (size_t)(p->at - start))))
			return error_no_memory(p->err);
		if (!add_step(p, step))
			return false;
	}
	return true;
}

static bool parse_sum(struct formula_parser *p)
{
	if (!parse_product(p))
		return false;
	for (char c; (c = next(p)) == '+' || c == '-';) {
		p->at++;
		if (!parse_product(p) ||
		    !add_step(p, (struct formula_step){.operation = c == '+' ? ADD : SUBTRACT}))
			return false;
	}
	return true;
}

bool formula_parse(const char *text, struct arena *arena, struct formula *out, struct error *err)
{
	/* the rest is filled as it is used: to clear 10 kB for each of the tables' formulas was a third of a short
	 * command's instructions */
	struct formula_parser *p = malloc(sizeof *p);
	bool done = false;
	if (!p)
		return error_no_memory(err);
	p->text = p->at = text;
	p->arena = arena;
	p->err = err;
	p->n_steps = p->n_inputs = 0;
	p->depth = p->height = 0;
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
	*out = (struct formula){steps, p->n_steps, (const char *const *)inputs, p->n_inputs};
	done = true;
out:
	free(p);
	return done;
}

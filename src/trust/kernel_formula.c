#include "trust/kernel_formula.h"

#include <ctype.h>
#include <string.h>

struct evaluation {
	const char *text, *at;
	kernel_name_value *name_value;
	void *context;
	struct error *err;
	bool check;       /* syntax alone: values do not matter */
	unsigned skipped; /* branches of if() around that are not evaluated */
	unsigned depth;
};

static bool truth(struct evaluation *e, int64_t *value);

static bool syntax(struct evaluation *e, const char *what)
{
	return error_set(e->err, ERROR_SYNTAX, "column %zu: %s", (size_t)(e->at - e->text) + 1, what);
}

static bool no_count(struct evaluation *e, const char *what)
{
	return error_set(e->err, ERROR_LIMIT, "column %zu: %s", (size_t)(e->at - e->text) + 1, what);
}

static bool matters(const struct evaluation *e) { return !e->check && e->skipped == 0; }

static char next(struct evaluation *e)
{
	while (*e->at == ' ' || *e->at == '\t')
		e->at++;
	return *e->at;
}

static bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '.' || c == '_'; }

/* left := left operation right */
static bool combine(struct evaluation *e, char operation, int64_t *left, int64_t right)
{
	if (!matters(e)) {
		*left = 1;
		return true;
	}
	switch (operation) {
	case '+': return !__builtin_add_overflow(*left, right, left) || no_count(e, "the sum is too large");
	case '-': return !__builtin_sub_overflow(*left, right, left) || no_count(e, "the difference is too large");
	case '*': return !__builtin_mul_overflow(*left, right, left) || no_count(e, "the product is too large");
	default:
		if (right == 0)
			return no_count(e, "a division by 0");
		if (*left < 0 || right < 0)
			return no_count(e, "a division of a number below 0");
		*left /= right;
		return true;
	}
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

enum function { FUNCTION_U, FUNCTION_MIN, FUNCTION_MAX, FUNCTION_GCD, FUNCTION_CEIL };
static const struct {
	const char *name;
	unsigned arguments;
} functions[] = {{"U", 3}, {"min", 2}, {"max", 2}, {"gcd", 2}, {"ceil", 2}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool units(struct evaluation *e, const int64_t *a, int64_t *value)
{
	int64_t end;
	*value = 0;
	if (a[1] == 0)
		return true;
	if (__builtin_add_overflow(a[0], a[1], &end))
		return no_count(e, "the sum is too large");
	*value = (end - 1) / a[2] - a[0] / a[2] + 1;
	return true;
}

static bool apply(struct evaluation *e, enum function function, const int64_t *a, int64_t *value)
{
	*value = 1;
	if (!matters(e))
		return true;
	if (function == FUNCTION_MIN || function == FUNCTION_MAX) {
		*value = (a[0] < a[1]) == (function == FUNCTION_MIN) ? a[0] : a[1];
		return true;
	}
	unsigned last = functions[function].arguments - 1;
	for (unsigned i = 0; i <= last; i++)
		if (a[i] < 0)
			return no_count(e, "a function of a number below 0");
	if (function == FUNCTION_GCD) {
		*value = greatest_divisor(a[0], a[1]);
		return true;
	}
	if (a[last] == 0)
		return no_count(e, "a division by 0");
	if (function == FUNCTION_U)
		return units(e, a, value);
	*value = a[0] / a[1] + (a[0] % a[1] != 0);
	return true;
}

static bool expect(struct evaluation *e, char c)
{
	if (next(e) != c)
		return syntax(e, c == ')' ? "expected ')'" : c == ',' ? "expected ','" : "expected '('");
	e->at++;
	return true;
}

static bool choose(struct evaluation *e, int64_t *value)
{
	int64_t condition, branch[2];
	if (!truth(e, &condition))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		bool skip = matters(e) && (condition != 0) != (i == 0);
		e->skipped += skip;
		bool done = expect(e, ',') && truth(e, &branch[i]);
		e->skipped -= skip;
		if (!done)
			return false;
	}
	*value = condition ? branch[0] : branch[1];
	return expect(e, ')');
}

static bool call(struct evaluation *e, const char *name, size_t length, int64_t *value)
{
	int64_t a[3] = {0};
	unsigned f = 0;
	if (length == 2 && memcmp(name, "if", 2) == 0)
		return choose(e, value);
	while (f < FUNCTIONS &&
	       !(strlen(functions[f].name) == length && memcmp(functions[f].name, name, length) == 0))
		f++;
	if (f == FUNCTIONS)
		return syntax(e, "not a function: if, U, min, max, gcd or ceil");
	for (unsigned i = 0; i < functions[f].arguments; i++)
		if ((i && !expect(e, ',')) || !truth(e, &a[i]))
			return false;
	return expect(e, ')') && apply(e, (enum function)f, a, value);
}

static bool name(struct evaluation *e, int64_t *value)
{
	const char *start = e->at;
	while (is_name_character(*e->at))
		e->at++;
	size_t length = (size_t)(e->at - start);
	if (next(e) == '(') {
		e->at++;
		if (++e->depth > KERNEL_FORMULA_DEPTH_MOST)
			return syntax(e, "the formula is too deep");
		bool done = call(e, start, length, value);
		e->depth--;
		return done;
	}
	*value = 1;
	if (length == 4 && memcmp(start, "none", 4) == 0)
		return !matters(e) ||
		       error_set(e->err, ERROR_NOT_FOUND, "no law predicts it under these conditions");
	int64_t known = 1;
	enum kernel_name_answer answer = e->name_value(e->context, start, length, &known);
	if (answer == KERNEL_NAME_UNKNOWN) {
		e->at = start;
		return syntax(e, "an unknown name");
	}
	if (!matters(e))
		return true;
	*value = known;
	return answer == KERNEL_NAME_KNOWN || error_set(e->err, ERROR_UNSUPPORTED, "this machine has no '%.*s'",
							(int)(length < 40 ? length : 40), start);
}

static bool number(struct evaluation *e, int64_t *value)
{
	for (*value = 0; isdigit((unsigned char)*e->at); e->at++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, *e->at - '0', value))
			return syntax(e, "the number is too large");
	return !is_name_character(*e->at) || syntax(e, "a number with a letter or a point in it");
}

static bool factor(struct evaluation *e, int64_t *value)
{
	char c = next(e);
	if (isdigit((unsigned char)c))
		return number(e, value);
	if (isalpha((unsigned char)c))
		return name(e, value);
	if (c != '(')
		return syntax(e, c ? "expected a number, a name or '('"
				   : "the formula ends where a value is expected");
	if (++e->depth > KERNEL_FORMULA_DEPTH_MOST)
		return syntax(e, "the formula is too deep");
	e->at++;
	bool done = truth(e, value) && expect(e, ')');
	e->depth--;
	return done;
}

static bool product(struct evaluation *e, int64_t *value)
{
	if (!factor(e, value))
		return false;
	for (char c; (c = next(e)) == '*' || c == '/';) {
		int64_t right;
		e->at++;
		if (!factor(e, &right) || !combine(e, c, value, right))
			return false;
	}
	return true;
}

static bool sum(struct evaluation *e, int64_t *value)
{
	if (!product(e, value))
		return false;
	for (char c; (c = next(e)) == '+' || c == '-';) {
		int64_t right;
		e->at++;
		if (!product(e, &right) || !combine(e, c, value, right))
			return false;
	}
	return true;
}

static bool truth(struct evaluation *e, int64_t *value)
{
	int64_t right;
	if (!sum(e, value))
		return false;
	char c = next(e);
	if (!c || !strchr("<>=!", c))
		return true;
	bool or_equal = e->at[1] == '=' && c != '=';
	if (c == '!' && !or_equal)
		return syntax(e, "expected an operator");
	e->at += 1 + or_equal;
	if (!sum(e, &right))
		return false;
	*value = c == '='   ? *value == right
		 : c == '!' ? *value != right
		 : c == '<' ? *value < right + or_equal
			    : *value + or_equal > right;
	return true;
}

static bool whole(struct evaluation *e, int64_t *value)
{
	return truth(e, value) && (!next(e) || syntax(e, "expected an operator"));
}

bool kernel_formula_value(const char *text, kernel_name_value *name_value, void *context, uint64_t *value,
			  struct error *err)
{
	struct evaluation e = {.text = text, .at = text, .name_value = name_value, .context = context, .err = err};
	int64_t found;
	if (!whole(&e, &found))
		return false;
	if (found < 0)
		return no_count(&e, "the result is below 0");
	if (found > INT64_C(1) << 53)
		return no_count(&e, "the result is too large");
	*value = (uint64_t)found;
	return true;
}

bool kernel_formula_check(const char *text, kernel_name_value *name_value, void *context, struct error *err)
{
	struct evaluation e = {
		.text = text, .at = text, .name_value = name_value, .context = context, .err = err, .check = true};
	int64_t found;
	return whole(&e, &found);
}

bool kernel_formula_names(const char *text, const char *wanted)
{
	size_t length = strlen(wanted);
	for (const char *at = text; (at = strstr(at, wanted)); at += length)
		if ((at == text || !is_name_character(at[-1])) && !is_name_character(at[length]))
			return true;
	return false;
}

#include "kernels/truth.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#if defined(__x86_64__)
#define PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#else
#define PROCESSOR "no kernel's"
#endif

/* sum := product { ('+' | '-') product };  product := factor { ('*' | '/') factor };
 * factor := number | 'n' | 'digits' | '(' sum ')' */
struct formula {
	const char *at, *end;
	uint64_t n, digits;
	bool wrong;
};

static uint64_t sum(struct formula *f);

static char next(struct formula *f)
{
	while (f->at < f->end && isspace((unsigned char)*f->at))
		f->at++;
	return f->at < f->end ? *f->at : '\0';
}

static uint64_t factor(struct formula *f)
{
	char c = next(f);
	if (c == '(') {
		f->at++;
		uint64_t value = sum(f);
		f->wrong |= next(f) != ')';
		f->at++;
		return value;
	}
	if (isdigit((unsigned char)c)) {
		uint64_t value = 0;
		for (; f->at < f->end && isdigit((unsigned char)*f->at); f->at++)
			value = 10 * value + (uint64_t)(*f->at - '0');
		return value;
	}
	const char *word = f->at;
	while (f->at < f->end && isalpha((unsigned char)*f->at))
		f->at++;
	size_t length = (size_t)(f->at - word);
	if (length == 1 && *word == 'n')
		return f->n;
	if (length == 6 && strncmp(word, "digits", 6) == 0)
		return f->digits;
	f->wrong = true;
	return 0;
}

static uint64_t product(struct formula *f)
{
	uint64_t value = factor(f);
	for (char c; !f->wrong && ((c = next(f)) == '*' || c == '/');) {
		f->at++;
		uint64_t right = factor(f);
		if (c == '/' && right == 0)
			f->wrong = true;
		else
			value = c == '*' ? value * right : value / right;
	}
	return value;
}

static uint64_t sum(struct formula *f)
{
	uint64_t value = product(f);
	for (char c; !f->wrong && ((c = next(f)) == '+' || c == '-');) {
		f->at++;
		uint64_t right = product(f);
		value = c == '+' ? value + right : value - right;
	}
	return value;
}

bool truth_value(const struct truth *row, uint64_t n, uint64_t *value, struct error *err)
{
	struct formula f = { .at = row->formula, .end = strchr(row->formula, '#'), .n = n };
	if (!f.end)
		f.end = row->formula + strlen(row->formula);
	for (uint64_t rest = n; rest; rest /= 10)
		f.digits++;
	*value = sum(&f);
	if (f.wrong || next(&f))
		return error_set(err, ERROR_SYNTAX, "the formula of '%s' cannot be read at '%.20s'", row->event,
				 f.at);
	return true;
}

static bool parse(const char *path, struct arena *arena, struct stanza **stanzas, size_t *count, struct error *err)
{
	enum { FILE_MOST = 1 << 20 };
	size_t length;
	char *text = file_read(path, FILE_MOST, &length, err);
	bool done = text && stanza_parse(text, length, path, arena, stanzas, count, err);
	free(text);
	return done;
}

bool truth_read(const char *path, struct arena *arena, const struct truth **rows, size_t *count, struct error *err)
{
	struct stanza *stanzas;
	size_t n_stanzas;
	*count = 0;
	if (!parse(path, arena, &stanzas, &n_stanzas, err))
		return false;
	for (size_t i = 0; i < n_stanzas; i++) {
		if (strcmp(stanzas[i].name, PROCESSOR) != 0)
			continue;
		struct truth *found = arena_alloc(arena, stanzas[i].n_keys * sizeof *found);
		if (!found)
			return error_no_memory(err);
		for (size_t k = 0; k < stanzas[i].n_keys; k++)
			found[k] = (struct truth){ stanzas[i].keys[k].key, stanzas[i].keys[k].value };
		*rows = found;
		*count = stanzas[i].n_keys;
		return true;
	}
	return error_set(err, ERROR_SYNTAX, "'%s' has no stanza for " PROCESSOR, path);
}

const char *truth_missing(const char *path, struct arena *arena)
{
	struct stanza *stanzas;
	size_t n;
	const char *needs = parse(path, arena, &stanzas, &n, NULL) && n ? stanza_get(&stanzas[0], "needs") : NULL;
	if (!needs)
		return NULL;
#if defined(__x86_64__)
	if (strcmp(needs, "fma") == 0 && __builtin_cpu_supports("fma"))
		return NULL;
#elif defined(__aarch64__)
	if (strcmp(needs, "fma") == 0) /* every aarch64 with floating point */
		return NULL;
#endif
	return needs;
}

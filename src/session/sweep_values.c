#include "session/sweep_values.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

enum { POWER_MOST = 9 };
/* Doubles have all whole numbers up to this. */
static const unsigned long long VALUE_MOST = 1ull << 53;

static bool refuse(struct error *err, const char *text, const char *why)
{
	error_set(err, ERROR_USAGE, "--sweep: '%s' %s", text, why);
	return error_hint(err, "NAME=8..128 doubles, NAME=8..128+40 adds 40, NAME=a,b,c are these values");
}

static size_t name_length(const char *text)
{
	size_t n = 0;
	if (!isalpha((unsigned char)text[0]) && text[0] != '_')
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

static bool add(struct sweep_values *out, const char *value, const char *text, struct error *err)
{
	if (!value)
		return error_no_memory(err);
	if (!value[0])
		return refuse(err, text, "has an empty value");
	for (size_t i = 0; i < out->n; i++)
		if (strcmp(out->values[i], value) == 0)
			return refuse(err, text, "has a value twice");
	if (out->n == SWEEP_VALUES_MOST)
		return refuse(err, text, "has more than 64 values");
	out->values[out->n++] = value;
	return true;
}

static bool add_number(struct sweep_values *out, unsigned long long value, struct arena *arena, const char *text,
		       struct error *err)
{
	return add(out, arena_printf(arena, "%llu", value), text, err);
}

/* A number that fills its text. */
static bool number(struct arena *arena, const char *from, size_t length, unsigned long long *out)
{
	char *text = arena_strndup(arena, from, length);
	return text && length && strspn(text, "0123456789") == length && str_to_u64(text, out) &&
	       *out <= VALUE_MOST;
}

static bool add_range(struct sweep_values *out, const char *range, const char *dots, struct arena *arena,
		      const char *text, struct error *err)
{
	const char *plus = strchr(dots, '+');
	const char *end = plus ? plus : dots + strlen(dots);
	unsigned long long first, last, step = 0;
	if (!number(arena, range, (size_t)(dots - range), &first) ||
	    !number(arena, dots + 2, (size_t)(end - dots - 2), &last) ||
	    (plus && !number(arena, plus + 1, strlen(plus + 1), &step)))
		return refuse(err, text, "has a range of something else than whole numbers");
	if (first > last)
		return refuse(err, text, "has a range that ends before it begins");
	if (plus ? !step : !first)
		return refuse(err, text, plus ? "has a step of 0" : "doubles 0, which stays 0");
	for (unsigned long long value = first; value <= last; value = plus ? value + step : 2 * value)
		if (!add_number(out, value, arena, text, err))
			return false;
	char *most = arena_printf(arena, "%llu", last);
	if (!most)
		return error_no_memory(err);
	return plus || strcmp(out->values[out->n - 1], most) == 0 || add(out, most, text, err);
}

bool sweep_values_parse(const char *text, struct arena *arena, struct sweep_values *out, struct error *err)
{
	size_t length = name_length(text);
	*out = (struct sweep_values){0};
	if (!length || text[length] != '=')
		return refuse(err, text, "does not begin with a name and '='");
	if (!(out->name = arena_strndup(arena, text, length)))
		return error_no_memory(err);
	const char *list = text + length + 1, *dots = strstr(list, "..");
	if (dots && !strchr(list, ','))
		return add_range(out, list, dots, arena, text, err);
	for (const char *at = list;; at += strcspn(at, ",") + 1) {
		size_t bytes = strcspn(at, ",");
		if (!add(out, arena_strndup(arena, at, bytes), text, err))
			return false;
		if (!at[bytes])
			return true;
	}
}

bool sweep_power_parse(const char *text, const char *name, unsigned *power, struct error *err)
{
	size_t length = strlen(name);
	*power = 1;
	if (strcmp(text, name) == 0)
		return true;
	if (strncmp(text, name, length) == 0 && text[length] == '^' && isdigit((unsigned char)text[length + 1]) &&
	    !text[length + 2]) {
		*power = (unsigned)(text[length + 1] - '0');
		if (*power >= 1 && *power <= POWER_MOST)
			return true;
	}
	error_set(err, ERROR_USAGE, "--per: '%s' is not '%s' or a power of it", text, name);
	return error_hint(err, "--per '%s^3' divides each time by the value's third power", name);
}

char *sweep_replace(const char *argument, const char *name, const char *value, struct arena *arena, bool *replaced)
{
	struct str out = {0};
	char *mark = arena_printf(arena, "{%s}", name), *kept = NULL;
	*replaced = false;
	if (!mark)
		return NULL;
	const char *at = argument;
	for (const char *next; (next = strstr(at, mark)); at = next + strlen(mark)) {
		str_append_bytes(&out, at, (size_t)(next - at));
		str_append(&out, value);
		*replaced = true;
	}
	str_append(&out, at);
	if (!out.failed)
		kept = arena_strdup(arena, out.text ? out.text : "");
	str_free(&out);
	return kept;
}

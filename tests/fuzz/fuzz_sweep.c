/* --sweep and --per of any content: no crash; a refusal is the user's and has a text; what is taken has a name and between
 * 1 and 64 values, none empty and no two alike; and a value stands where its mark stood. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "session/sweep_values.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void use(const struct sweep_values *v, const char *text, struct arena *arena)
{
	struct error err = {0};
	unsigned power = 0;
	struct str mark = {0};
	bool replaced;
	check(v->name && v->name[0] && strncmp(text, v->name, strlen(v->name)) == 0, "the name is not the text's");
	check(v->n >= 1 && v->n <= SWEEP_VALUES_MOST, "no value, or too many");
	for (size_t i = 0; i < v->n; i++) {
		check(v->values[i][0], "an empty value");
		for (size_t j = 0; j < i; j++)
			check(strcmp(v->values[i], v->values[j]) != 0, "two values are alike");
	}
	str_appendf(&mark, "<{%s}{%s}>{", v->name, v->name);
	char *put = sweep_replace(mark.text, v->name, v->values[0], arena, &replaced);
	check(put && replaced && strlen(put) == 3 + 2 * strlen(v->values[0]), "the marks are not replaced");
	str_free(&mark);
	if (sweep_power_parse(text, v->name, &power, &err))
		check(power >= 1 && power <= 9, "a power out of its range");
	else
		check(err.code == ERROR_USAGE && err.text[0], "a power refused without a reason");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct sweep_values values;
	struct error err = {0};
	char *text = strndup((const char *)data, size);
	if (text && sweep_values_parse(text, &arena, &values, &err))
		use(&values, text, &arena);
	else
		check(err.code == ERROR_USAGE && err.text[0], "refused without a reason");
	arena_free(&arena);
	free(text);
	return 0;
}

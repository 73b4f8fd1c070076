/* Rows of data/metrics/ and formulas of any content: no crash; an error always has a text and leaves the table as
 * it was; a value that comes out is finite and inside of its interval. Input: a first byte 'M' is followed by
 * rows, anything else is a formula.
 *
 *     clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_metric.c \
 *         src/event/{formula,metric,rows}.c src/base/{arena,error,nearest,stanza,str,vec}.c build/data/metric_files.c
 * -lm */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "event/formula.h"
#include "event/metric.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void fuzz_rows(const uint8_t *data, size_t size)
{
	/* kept: making one costs more than most inputs; its arena grows, so not for ever */
	static struct metric_table *table;
	static unsigned used;
	struct error err = {0};
	if (used++ % 5000 == 0) {
		metric_table_free(table);
		table = metric_table_new(&err);
	}
	check(table != NULL, err.text);
	size_t before = metric_table_count(table);
	if (!metric_table_add(table, (const char *)data, size, "f", &err)) {
		check(strncmp(err.text, "f:", 2) == 0, "an error without a place");
		check(metric_table_count(table) == before, "half a text was added");
	}
	for (size_t i = before; i < metric_table_count(table); i++) {
		const struct metric *m = metric_table_at(table, i);
		check(metric_definition(m) && metric_unit(m) && metric_formula(m), "half a row");
		check(metric_find(table, metric_name(m), &err) == m, "a row is not found by its name");
	}
}

static void fuzz_formula(const char *text, size_t size)
{
	static const double values[] = {1, 0, 1e9, -3, 0.1, 1e200, 7};
	struct arena arena = {0};
	struct formula formula;
	struct error err = {0};
	if (!formula_parse(text, &arena, &formula, &err)) {
		check(strncmp(err.text, "column ", 7) == 0, "an error without a place");
		goto out;
	}
	check(formula.n_inputs <= FORMULA_INPUTS_MOST && formula.n_steps <= FORMULA_STEPS_MOST, "too large");
	for (size_t shift = 0; shift < 4; shift++) {
		struct metric_input inputs[FORMULA_INPUTS_MOST], result;
		for (size_t i = 0; i < formula.n_inputs; i++) {
			double value = values[(i + shift + size) % (sizeof values / sizeof *values)];
			/* the second round has no errors, the third has one without bound */
			double wide = shift == 1 ? 0 : shift == 2 && i == 0 ? INFINITY : fabs(value) / 8 + 1;
			inputs[i] = (struct metric_input){true, value, value - wide, value + 2 * wide};
		}
		if (!formula_evaluate(&formula, inputs, &result, &err)) {
			check(err.code == ERROR_UNSUPPORTED && err.text[0], "not evaluated, and no reason");
			continue;
		}
		check(result.known && isfinite(result.value), "a result that is none");
		check(result.low <= result.value && result.value <= result.high, "outside of its interval");
		if (shift == 1)
			check(result.low == result.value && result.high == result.value,
			      "an error out of nothing");
	}
out:
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && *data == 'M') {
		fuzz_rows(data + 1, size - 1);
		return 0;
	}
	char *text = malloc(size + 1);
	check(text != NULL, "no memory");
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	fuzz_formula(text, size);
	free(text);
	return 0;
}

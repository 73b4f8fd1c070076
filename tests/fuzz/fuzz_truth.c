/* Truths of kernels of any content: no crash; an error always has a text; what is read has a sentence and sizes, and
 * every prediction is a number or none with a reason. Input: a first byte 'F' is followed by a formula, anything else is a
 * truth. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/kernel_formula.h"
#include "trust/kernels.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static enum kernel_name_answer name_value(void *context, const char *name, size_t length, int64_t *value)
{
	*value = (int64_t)(length * (uintptr_t)context);
	return *name == 'x' ? KERNEL_NAME_LACKING : *name == 'y' ? KERNEL_NAME_UNKNOWN : KERNEL_NAME_KNOWN;
}

static void fuzz_formula(const char *text)
{
	struct error err = {0};
	bool right = kernel_formula_check(text, name_value, NULL, &err);
	check(right || err.text[0], "an error without a text");
	for (uintptr_t n = 0; n < 4; n++) {
		uint64_t value = 0;
		struct error why = {0};
		bool known = kernel_formula_value(text, name_value, (void *)(n * n * 1000003), &value, &why);
		check(known ? value <= UINT64_C(1) << 53 : why.text[0], "a value that is none, or no reason");
		check(right || !known, "a value of what cannot be read");
	}
}

static void fuzz_truth(const char *text, size_t size)
{
	static const char START[] = "[all command]\nloads = 2 + digits\n[all region]\nloads = 1\n";
	struct kernel_text truth = {text, "f", size}, start = {START, "start", sizeof START - 1};
	struct kernel_machine machine = {.name = "all"};
	struct arena arena = {0};
	struct kernel kernel;
	struct error err = {0};
	static const char *const set[] = {"l1d.line", "l1d.ways",     "l2.sets",    "dtlb.entries",
					  "levels",   "branch.plain", "btb.entries"};
	for (size_t i = 0; i < sizeof set / sizeof *set; i++)
		check(kernel_machine_set(&machine, set[i], (int64_t)(1 << 2 * i)), "a parameter that is none");
	if (kernel_read(&truth, &start, &arena, &kernel, &err)) {
		check(kernel.sentence && kernel.n_sizes && kernel.n_quick, "half a kernel");
		for (size_t i = 0; i < kernel.n_predictions; i++)
			for (unsigned way = 0; way < KERNEL_INTERFACES; way++) {
				double value;
				const struct kernel_prediction *row = &kernel.predictions[i];
				if (row->interfaces & 1U << way &&
				    kernel_prediction_value(row, (enum kernel_interface)way,
							    kernel.sizes[i % kernel.n_sizes],
							    i % 2 ? &machine : NULL, &value, &err))
					check(isfinite(value) && value >= 0, "not a count");
			}
	} else {
		check(strncmp(err.text, "f", 1) == 0 || err.text[0], "an error without a text");
	}
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	check(text != NULL, "no memory");
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (size && *text == 'F')
		fuzz_formula(text + 1);
	else
		fuzz_truth(text, size);
	free(text);
	return 0;
}

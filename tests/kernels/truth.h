/* The predicted counts that stand beside a kernel (kernels/README.md), of the whole command, as the tests of single
 * steps and counters ask for them. */
#ifndef TARE_TESTS_KERNELS_TRUTH_H
#define TARE_TESTS_KERNELS_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "trust/kernels.h"

struct truth {
	const char *event; /* as in the file: "page-faults-more" */
	struct kernel_prediction row;
};

/* The rows for this processor, those that ask for nothing of a machine. path: FOLDER/NAME.truth; FOLDER/start.truth is
 * read too. Everything lives in arena. */
bool truth_read(const char *path, struct arena *arena, const struct truth **rows, size_t *count,
		struct error *err);

/* Why this CPU cannot run the kernel; NULL: it can. */
const char *truth_missing(const char *path, struct arena *arena);

/* The row's value for a kernel's argument n. */
bool truth_value(const struct truth *row, uint64_t n, uint64_t *value, struct error *err);

#endif

/* The predicted counts that stand beside a kernel (kernels/README.md): read from NAME.truth and computed for an
 * argument. */
#ifndef TARE_TESTS_KERNELS_TRUTH_H
#define TARE_TESTS_KERNELS_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stanza.h"

struct truth {
	const char *event;   /* "branches-taken" */
	const char *formula; /* with its reason behind a '#' */
};

/* The rows for this processor. Everything lives in arena. */
bool truth_read(const char *path, struct arena *arena, const struct truth **rows, size_t *count,
		struct error *err);

/* What the kernel needs of the CPU (its key `needs`) and this one does not have; NULL: it runs here. */
const char *truth_missing(const char *path, struct arena *arena);

/* The row's value for a kernel's argument n. Integers; a division leaves the remainder out. */
bool truth_value(const struct truth *row, uint64_t n, uint64_t *value, struct error *err);

#endif

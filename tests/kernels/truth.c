#include "kernels/truth.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { FILE_MOST = 1 << 20 };

static bool read_kernel(const char *path, struct arena *arena, struct kernel *kernel, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *start_path =
	    arena_printf(arena, "%.*s/start.truth", slash ? (int)(slash - path) : 1, slash ? path : ".");
	struct kernel_text truth = { .source = path }, start = { .source = start_path };
	char *text = file_read(path, FILE_MOST, &truth.length, err);
	char *start_text = text ? file_read(start_path, FILE_MOST, &start.length, err) : NULL;
	truth.text = text;
	start.text = start_text;
	bool done = start_text && kernel_read(&truth, &start, arena, kernel, err);
	free(text);
	free(start_text);
	return done;
}

bool truth_read(const char *path, struct arena *arena, const struct truth **rows, size_t *count, struct error *err)
{
	struct kernel kernel;
	*count = 0;
	if (!read_kernel(path, arena, &kernel, err))
		return false;
	struct truth *found = arena_alloc(arena, (kernel.n_predictions + 1) * sizeof *found);
	if (!found)
		return error_no_memory(err);
	for (size_t i = 0; i < kernel.n_predictions; i++) {
		const struct kernel_prediction *row = &kernel.predictions[i];
		double value;
		struct error why = { 0 };
		bool of_machine =
		    !kernel_prediction_value(row, KERNEL_COMMAND, 1, NULL, &value, &why) && why.code == ERROR_UNSUPPORTED;
		if (row->interfaces & 1 << KERNEL_COMMAND && !of_machine)
			found[(*count)++] = (struct truth){ arena_printf(arena, "%s%s", row->event,
									 row->beyond_start    ? "-more"
									 : row->first_process ? "-self"
											      : ""),
							    *row };
	}
	*rows = found;
	return true;
}

const char *truth_missing(const char *path, struct arena *arena)
{
	struct kernel kernel;
	return read_kernel(path, arena, &kernel, NULL) ? kernel.why_not : NULL;
}

bool truth_value(const struct truth *row, uint64_t n, uint64_t *value, struct error *err)
{
	double found;
	if (!kernel_prediction_value(&row->row, KERNEL_COMMAND, n, NULL, &found, err))
		return false;
	*value = (uint64_t)found;
	return true;
}

#include "cli/shown_cpu.h"

#include <string.h>

bool shown_cpu_parse(const char *value, const char **out, struct error *err)
{
	static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "host", NULL};
	for (int i = 0; levels[i]; i++)
		if (strcmp(levels[i], value) == 0) {
			*out = levels[i];
			return true;
		}
	error_set(err, ERROR_USAGE, "'%s' is not a CPU that --reproducible can show", value);
	return error_hint(err, "x86-64-v2, x86-64-v3, x86-64-v4 or host");
}

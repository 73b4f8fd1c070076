/* The one file that names every backend. */
#include <stdio.h>
#include <string.h>

#include "backend/auto.h"
#include "backend/backend.h"
#ifdef __x86_64__
#include "backend/exact/exact.h"
#include "backend/model/model.h"
#endif
#include "backend/perf/perf.h"
#include "backend/replay/replay.h"

static const struct backend_operations *const kinds[] = {
	&backend_auto,   &perf_backend,
#ifdef __x86_64__
	&exact_backend,  &model_backend,
#endif
	&replay_backend,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

size_t backend_kinds(void) { return KINDS; }

const struct backend_operations *backend_kind(size_t index) { return index < KINDS ? kinds[index] : NULL; }

const struct backend_operations *backend_by_name(const char *on, const char **argument, struct error *err)
{
	size_t length = strcspn(on, ":");
	*argument = NULL;
	for (size_t i = 0; i < KINDS; i++) {
		if (strlen(kinds[i]->name) != length || strncmp(kinds[i]->name, on, length) != 0)
			continue;
		*argument = on[length] == ':' ? on + length + 1 : NULL;
		return kinds[i];
	}
	char names[256] = "";
	for (size_t i = 0; i < KINDS; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
			 kinds[i]->name);
	error_set(err, ERROR_USAGE, "unknown backend '%.*s'", (int)length, on);
	error_hint(err, "there are: %s", names);
	return NULL;
}

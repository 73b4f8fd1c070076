#include "session/environment.h"

#include <string.h>

extern char **environ;

char **environment_with(char *const *environment, const char *name, const char *value, struct arena *arena)
{
	size_t n = 0, kept = 0, length = strlen(name);
	if (!environment)
		environment = environ;
	while (environment[n])
		n++;
	char **out = arena_alloc(arena, (n + 2) * sizeof *out);
	for (size_t i = 0; out && i < n; i++)
		if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=')
			out[kept++] = environment[i];
	if (!out || !(out[kept] = arena_printf(arena, "%s=%s", name, value)))
		return NULL;
	out[kept + 1] = NULL;
	return out;
}

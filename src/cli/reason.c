#include "cli/reason.h"

#include <stdio.h>
#include <string.h>

const char *reason_without_name(struct arena *arena, const char *why, const char *name)
{
	char quoted[300];
	int length = snprintf(quoted, sizeof quoted, " '%s'", name);
	const char *at = length > 0 && (size_t)length < sizeof quoted ? strstr(why, quoted) : NULL;
	if (!at)
		return arena_strdup(arena, why);
	return arena_printf(arena, "%.*s%s", (int)(at - why), why, at + length);
}

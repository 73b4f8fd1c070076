#include "base/process_stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool process_stat(pid_t pid, char *state, uint64_t *ticks)
{
	char path[64], text[512];
	uint64_t user, system;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	/* the name in parentheses may hold anything; the state follows the last one */
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, state, &user,
			   &system) != 3)
		return false;
	*ticks = user + system;
	return true;
}

#include "backend/padding.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool names_program(const char *variable) { return variable[0] == '_' && variable[1] == '='; }

char **padded_environment(char *const *environment, const char *path)
{
	static const char filler[] = "TARE_PAD=";
	size_t count = 0, bytes = 0;
	for (; environment[count]; count++)
		bytes += names_program(environment[count]) ? strlen(path) + 3 : strlen(environment[count]) + 1;
	/* at least one filler, which takes what the others leave */
	size_t all = (count / PADDED_VARIABLES + 1) * PADDED_VARIABLES, fillers = all - count;
	size_t least = bytes + fillers * sizeof filler;
	size_t total = (least + PADDED_BYTES - 1) / PADDED_BYTES * PADDED_BYTES;
	char **padded = malloc((all + 1) * sizeof *padded + total);
	if (!padded)
		return NULL;
	char *text = (char *)(padded + all + 1);
	for (size_t i = 0; i < count; i++) {
		padded[i] = environment[i];
		if (names_program(environment[i])) {
			padded[i] = text;
			text = stpcpy(stpcpy(text, "_="), path) + 1;
		}
	}
	for (size_t i = 0; i < fillers; i++) {
		size_t extra = i + 1 < fillers ? 0 : total - least;
		padded[count + i] = text;
		memcpy(text, filler, sizeof filler);
		memset(text + sizeof filler - 1, 'x', extra);
		text[sizeof filler - 1 + extra] = 0;
		text += sizeof filler + extra;
	}
	padded[all] = NULL;
	return padded;
}

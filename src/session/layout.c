#include "session/layout.h"

#include <stdlib.h>
#include <string.h>

char **layout_environment(char *const *environment, struct random *random)
{
	static const char name[] = "TARE_LAYOUT=";
	enum { PAGE_BYTES = 4096 };
	size_t n = 0, filler = random_below(random, PAGE_BYTES);
	while (environment[n])
		n++;
	char **out = malloc((n + 2) * sizeof *out + sizeof name + filler);
	if (!out)
		return NULL;
	memcpy(out, environment, n * sizeof *out);
	char *text = (char *)(out + n + 2);
	memcpy(text, name, sizeof name - 1);
	memset(text + sizeof name - 1, 'x', filler);
	text[sizeof name - 1 + filler] = '\0';
	out[n] = text;
	out[n + 1] = NULL;
	return out;
}

#include "report/modelled.h"

#include <string.h>

#include "base/str.h"

void modelled_print(FILE *out, const struct result *result, const char *before)
{
	size_t n = 0;
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		char name[256];
		if (!e->known || e->source != SOURCE_MODEL || !estimate_is_total(e))
			continue;
		/* "r10000:Primary data cache misses" is also shown without its tool there */
		const char *colon = strncmp(e->event, "r10000:", 7) == 0 || strncmp(e->event, "r12000:", 7) == 0 ||
						    strncmp(e->event, "p5mon:", 6) == 0
					    ? strchr(e->event, ':') + 1
					    : e->event;
		str_escape_to(name, sizeof name, colon);
		if (n++ == 0)
			fprintf(out, "%sModelled on '%s', not counted by this machine: ", before,
				e->machine ? e->machine : "?");
		else
			fputs("; ", out);
		fputs(name, out);
	}
	if (n)
		fputc('\n', out);
}

void notes_print(FILE *out, const struct result *result, const char *before)
{
	for (size_t i = 0; i < result->n_notes; i++) {
		char note[2048];
		str_escape_to(note, sizeof note, result->notes[i].text);
		fprintf(out, "%snote: %s\n", before, note);
	}
}

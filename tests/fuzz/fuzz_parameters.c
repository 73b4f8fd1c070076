/* Parameter files and -F texts of any content: no crash, an error always has a text, and what is read can be dumped
 * and read again as the same. Input: a file; what follows a byte 0xff in it is an -F text.
 *
 * Most of the time goes into finding near names for unknown keys: with coverage in compat/parameters.c and here only, and
 * base/nearest.c without sanitizers, ten times as many inputs are tried in the same time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/parameters.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static char *dump(const struct parameters *p)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	check(out != NULL, "no memory");
	parameters_dump(p, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parameters p, again;
	struct error err = {0};
	const uint8_t *mark = memchr(data, 0xff, size);
	size_t length = mark ? (size_t)(mark - data) : size;
	parameters_init(&p);
	if (mark) {
		char *text = strndup((const char *)mark + 1, size - length - 1);
		check(text != NULL, "no memory");
		if (!parameters_override(&p, text, &err))
			check(err.text[0] != '\0', "an override failed without a text");
		free(text);
	}
	err = (struct error){0};
	if (!parameters_read(&p, (const char *)data, length, "f", &err)) {
		check(strncmp(err.text, "f:", 2) == 0, "an error without a place");
	} else {
		check(p.repetitions >= 1 && p.repetitions <= PARAMETERS_REPETITIONS, "repetitions out of bounds");
		check(p.max_regions <= PARAMETERS_REGIONS && p.verbose_level <= 2, "a number out of bounds");
		if (parameters_check(&p, "perf", &err))
			check(!p.use_assembly_regions,
			      "regions were accepted of a backend that does not see them");
		/* dumping costs most of the time: every second input is enough */
		if (size & 1) {
			char *first = dump(&p);
			parameters_init(&again);
			check(parameters_read(&again, first, strlen(first), "dump", &err),
			      "a dump does not parse");
			char *second = dump(&again);
			check(strcmp(first, second) == 0, "a dump reads back as something else");
			free(first);
			free(second);
			parameters_free(&again);
		}
	}
	parameters_free(&p);
	return 0;
}

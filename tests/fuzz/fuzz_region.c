/* Regions of any text: no crash; an error has a text and a hint; what parses has a name, a place of one kind, and parses again under its name.
 *
 *     clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_region.c src/symbol/place_spec.c src/base/{arena,error,str}.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/places.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct error err = {0};
	struct place_spec spec, again;
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!place_parse(text, &arena, &spec, &err)) {
		check(err.code == ERROR_USAGE && err.text[0] && err.hint[0], "an error without its text or hint");
	} else {
		check(spec.name[0] && spec.text[0], "a region without a name or a place");
		switch (spec.kind) {
		case PLACE_FUNCTION: check(spec.function && spec.function[0], "no function"); break;
		case PLACE_LINES:
			check(spec.file && spec.file[0] && spec.first >= 1 && spec.last >= spec.first, "no lines");
			break;
		case PLACE_ADDRESSES: check(spec.low < spec.high, "no addresses"); break;
		}
		char *named = malloc(strlen(spec.text) + 8);
		if (named) {
			sprintf(named, "name=%s", spec.text);
			check(place_parse(named, &arena, &again, &err) && again.kind == spec.kind &&
				      strcmp(again.text, spec.text) == 0,
			      "the same place is another one under another name");
			free(named);
		}
	}
	arena_free(&arena);
	free(text);
	return 0;
}

/* Tables of costs of any content: no crash; a refusal has a text and leaves nothing behind; what is taken is in order,
 * and a measured one is written as a text that is taken again and means the same. The sum, which no mutation would get
 * right, is put in here. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/costs.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool parse(const char *text, size_t length, struct costs *c)
{
	struct error err = {0};
	if (costs_parse(text, length, "fuzz", c, &err))
		return true;
	check(err.code != ERROR_NONE && err.text[0], "refused without a reason");
	check(!c->arena.blocks, "refused, and something is left");
	return false;
}

static void use(struct costs *c)
{
	struct str text = {0};
	struct error err = {0};
	struct costs again;
	for (unsigned i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &c->of[i];
		if (!cost->known)
			continue;
		check(cost->source && cost->source[0], "a cost without a source");
		check(!isinf(cost->typical) && !isinf(cost->least) && !isinf(cost->most), "an infinite cost");
		check(!(cost->least < 0) && !(cost->least > cost->typical) && !(cost->typical > cost->most) &&
			      !(cost->least > cost->most),
		      "costs out of order");
	}
	if (c->measured) {
		check(costs_write(c, &text, &err), err.text);
		check(parse(text.text, text.length, &again), "what was taken is refused when it is written");
		costs_free(&again);
	}
	str_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "\n[end]\n";
	struct costs c;
	struct str text = {0};
	uint64_t hash = 0xcbf29ce484222325u;
	if (parse((const char *)data, size, &c)) {
		use(&c);
		costs_free(&c);
	}
	/* without the sum that it may have, with the right one */
	const uint8_t *end = memmem(data, size, mark, sizeof mark - 1);
	if (end)
		size = (size_t)(end - data);
	str_append_bytes(&text, (const char *)data, size);
	str_append(&text, "\n");
	for (size_t i = 0; i < text.length; i++)
		hash = (hash ^ (unsigned char)text.text[i]) * 0x100000001b3u;
	str_appendf(&text, "[end]\nsum = %016" PRIx64 "\n", hash);
	if (!text.failed && parse(text.text, text.length, &c)) {
		use(&c);
		costs_free(&c);
	}
	str_free(&text);
	return 0;
}

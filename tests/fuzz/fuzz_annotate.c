/* Assembly of any content, with regions anywhere in it: no crash, an error has a text, statements are in order and
 * inside the text, and what is annotated can be read again and still has every statement of before.
 * Input: bytes 0 … 4 are machine, first line, lines, first line, lines; the text follows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembly/annotate.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_statements(const struct assembly *a)
{
	size_t at = 0;
	for (size_t i = 0; i < a->statements.count; i++) {
		const struct statement *s = &a->statements.items[i];
		check(s->whole.at >= at && s->whole.end > s->whole.at && s->whole.end <= a->bytes,
		      "statements are not in order");
		check(s->word.at <= s->word.end && s->word.end <= s->whole.end, "a word is not in its statement");
		check(s->operands.at <= s->operands.end && s->operands.end <= a->bytes, "operands are outside");
		check(s->line < a->lines.count && a->lines.items[s->line] <= s->whole.at,
		      "a line number is wrong");
		at = s->whole.end;
	}
}

/* Every statement of the first, but for changed operands, is in the second, in the same order. */
static void check_kept(const struct assembly *before, const struct assembly *after)
{
	size_t at = 0;
	for (size_t i = 0; i < before->statements.count; i++) {
		const struct statement *s = &before->statements.items[i];
		size_t bytes = s->word.end - s->word.at;
		for (; at < after->statements.count; at++) {
			const struct statement *t = &after->statements.items[at];
			if (t->kind == s->kind && t->word.end - t->word.at == bytes &&
			    memcmp(before->text + s->word.at, after->text + t->word.at, bytes) == 0)
				break;
		}
		check(at++ < after->statements.count, "a statement is lost");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assembly a, again;
	struct error err = {0};
	struct str out = {0};
	if (size < 5)
		return 0;
	char *text = malloc(size - 5 + 1);
	check(text != NULL, "no memory");
	memcpy(text, data + 5, size - 5);
	struct annotate_region regions[2] = {{"a b\"\\", 1u + data[1], 1u + data[1] + data[2]},
					     {"c", 1u + data[3], 1u + data[3] + data[4]}};
	struct annotate_request request = {regions, data[0] & 4 ? 2 : 1, data[0] >> 3, NULL, NULL};
	if (assembly_read(&a, text, size - 5, (enum assembly_machine)(data[0] & 3) % 3, &err)) {
		check_statements(&a);
		if (!annotate(&a, &request, &out, &err)) {
			check(err.text[0] != '\0', "an error without a text");
		} else {
			check(assembly_read(&again, out.text, out.length, a.machine, &err),
			      "what was annotated does not read");
			check_statements(&again);
			check_kept(&a, &again);
			assembly_free(&again);
		}
		assembly_free(&a);
	} else {
		check(err.text[0] != '\0', "an error without a text");
	}
	str_free(&out);
	free(text);
	return 0;
}

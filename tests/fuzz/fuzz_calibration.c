/* Kept calibrations of any content: no crash; a refusal has a text and leaves nothing behind; what is taken is
 * written as a text that is taken again and means the same. The sum, which no mutation would get right, is put in
 * here. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/calibration/calibration.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool parse(const char *text, size_t length, struct calibration *c)
{
	struct error err = {0};
	if (calibration_parse(text, length, "kept", c, &err))
		return true;
	check(err.code != ERROR_NONE && err.text[0], "refused without a reason");
	check(!c->arena.blocks && !c->overheads.items && !c->fits.items && !c->floors.items,
	      "refused, and something is left");
	return false;
}

static void use(struct calibration *c)
{
	struct str text = {0};
	struct error err = {0};
	struct calibration again;
	char id[sizeof c->id];
	for (size_t i = 0; i < c->overheads.count; i++) {
		const struct overhead *o = &c->overheads.items[i];
		check(o->n > 0 && o->event[0] && isfinite(o->mean) && o->least <= o->most && o->sd >= 0,
		      "half a row");
		check(calibration_overhead(c, o->event, o->interface, o->part, o->cold) != NULL,
		      "a row that is not found");
		check(interface_name(o->interface) && overhead_part_name(o->part), "a row without names");
	}
	for (size_t i = 0; i < c->floors.count; i++)
		check(calibration_floor(c, c->floors.items[i].event) != NULL && c->floors.items[i].n >= 2,
		      "half a floor");
	check(calibration_write(c, &text, &err), err.text);
	memcpy(id, c->id, sizeof id);
	check(parse(text.text, text.length, &again), "what was taken is refused when it is written");
	check(strcmp(again.id, id) == 0 && again.overheads.count == c->overheads.count &&
		      again.fits.count == c->fits.count && again.floors.count == c->floors.count,
	      "what was written is another calibration");
	calibration_free(&again);
	str_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct calibration c;
	struct str text = {0};
	uint64_t hash = 0xcbf29ce484222325u;
	if (parse((const char *)data, size, &c)) {
		use(&c);
		calibration_free(&c);
	}
	/* without the sum that it may have, with the right one */
	for (size_t at = size; at-- > 0;)
		if (size - at >= 5 && memcmp(data + at, "[end]", 5) == 0) {
			size = at;
			break;
		}
	str_append_bytes(&text, (const char *)data, size);
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x100000001b3u;
	str_appendf(&text, "[end]\nsum = %016" PRIx64 "\n", hash);
	if (!text.failed && parse(text.text, text.length, &c)) {
		use(&c);
		calibration_free(&c);
	}
	str_free(&text);
	return 0;
}

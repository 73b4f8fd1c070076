/* Machine files of any content, CPUID answers of any content and any bytes as a struct machine: no crash; an error
 * has a text and leaves nothing behind; a machine that is handed out passed machine_is_sound(), reads the same a
 * second time, can be drawn, and has a bounded size. Input: a first byte 'H' is followed by the bytes that CPUID
 * answers, 'S' by a struct machine, anything else is a file's text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/declare/check.h"
#include "model/core/model.h"
#include "model/declare/draw.h"
#include "model/declare/host.h"
#include "model/declare/machines.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* What limits a machine is what it takes of the measured program's memory. */
static void check_size(const struct machine *m)
{
	const struct model_options options = {0};
	check(model_bytes(m, &options) <= UINT64_C(1) << 40 && model_core_bytes(m, &options) <= UINT64_C(1) << 40,
	      "a machine without measure");
}

static void use(const struct machine_description *d)
{
	struct machine_fault fault;
	struct str text = {0};
	const struct machine *m = &d->machine;
	check(machine_is_sound(m, &fault), fault.why);
	check(d->n_values > 0 && d->files && d->files[0], "a machine out of nothing");
	for (size_t i = 0; i < d->n_values; i++)
		check(d->values[i].stanza && d->values[i].key && d->values[i].text && d->values[i].file &&
			      d->values[i].line,
		      "half a value");
	machine_summary(m, &text);
	machine_draw(m, 80, &text);
	machine_draw_sources(d, 80, &text);
	check(text.failed || text.length > 0, "nothing drawn");
	for (size_t i = 0; i < text.length; i++)
		check(text.text[i] == '\n' || (unsigned char)text.text[i] >= ' ' || text.text[i] == '\t',
		      "a control byte is drawn");
	str_free(&text);
	check_size(m);
}

static void fuzz_text(const char *text, size_t size, const char *name)
{
	struct machine_description d, again;
	struct error err = {0};
	if (!machine_parse(text, size, "f.conf", NULL, name, &d, &err)) {
		check(err.code != ERROR_NONE && err.text[0], "refused without a reason");
		check(err.code != ERROR_SYNTAX || strstr(err.text, ".conf:") || strstr(err.text, "this machine:"),
		      "an error without a place");
		check(!d.values && !d.files && !d.arena.blocks, "refused, and something is left");
		return;
	}
	check(machine_parse(text, size, "f.conf", NULL, name, &again, &err),
	      "the same text is refused the second time");
	check(memcmp(&d.machine, &again.machine, sizeof d.machine) == 0,
	      "the same text is another machine the second time");
	use(&d);
	machine_description_free(&d);
	machine_description_free(&again);
}

/* ---- CPUID ---- */

struct answers {
	const uint8_t *data;
	size_t size;
};

static struct host_registers answer(void *context, uint32_t leaf, uint32_t subleaf)
{
	const struct answers *a = context;
	uint32_t r[4] = {0};
	/* the same question has the same answer */
	size_t at = a->size < sizeof r ? 0
				       : ((leaf & 0xff) * 7 + (leaf >> 31) * 64 + subleaf) * sizeof r %
						 (a->size - sizeof r + 1);
	memcpy(r, a->data + at, a->size < sizeof r ? a->size : sizeof r);
	return (struct host_registers){r[0], r[1], r[2], r[3]};
}

static void fuzz_host(const uint8_t *data, size_t size)
{
	struct answers answers = {data, size};
	struct host_probe probe = {.cpuid = answer, .context = &answers, .cores = size ? data[0] : 0};
	struct str text = {0};
	struct error err = {0};
	if (host_write_conf(&probe, &text, &err))
		fuzz_text(text.text, text.length, "host");
	else
		check(err.text[0], "refused without a reason");
	str_free(&text);
}

static void fuzz_struct(const uint8_t *data, size_t size)
{
	struct machine m;
	struct error err = {0};
	if (!machine_find("r12000", &m, &err))
		check(false, err.text);
	/* pairs of a place and a byte: some of what is there must stay for anything to pass */
	for (; size >= 3; data += 3, size -= 3)
		((uint8_t *)&m)[(data[0] | data[1] << 8) % sizeof m] = data[2];
	struct machine_fault fault;
	if (!machine_is_sound(&m, &fault)) {
		check(fault.stanza && fault.key && fault.why[0], "refused without a reason");
		return;
	}
	check_size(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && *data == 'H')
		fuzz_host(data + 1, size - 1);
	else if (size && *data == 'S')
		fuzz_struct(data + 1, size - 1);
	else
		fuzz_text((const char *)data, size, "f");
	return 0;
}

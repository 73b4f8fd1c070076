/* Requests and lists of events of any content, and rows of data/events/: no crash; an error always has a text and
 * leaves the list as it was; the label of an event parses to the same event; whatever encodes has a positive
 * scale. Input: a first byte 'E' is followed by rows, anything else is a list.
 *
 *     clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_event.c \
 *         src/event/{encode,formula,parse,pfm,request,sysfs,table}.c src/base/{arena,error,file,nearest,stanza,str,vec}.c
 * \ build/data/event_files.c -lpfm -lm */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_event(struct event_table *table, const struct event *event, const struct event_machine *machine)
{
	struct event again;
	check(event->levels >= LEVEL_USER && event->levels <= (LEVEL_USER | LEVEL_KERNEL), "no level");
	check(event_parse(table, event->text, &again, NULL) && strcmp(again.label, event->label) == 0 &&
		      again.period == event->period,
	      "a request parses in two ways");
	check(event_parse(table, event->label, &again, NULL) && again.definition == event->definition &&
		      again.levels == event->levels && strcmp(again.label, event->label) == 0,
	      "a label does not parse to its own event");
	check(!event->machine == !again.machine && (!event->machine || strcmp(event->machine, again.machine) == 0),
	      "a label does not parse to its own event's machine");
	/* libpfm4 looks through all its PMUs, which takes it ms: it is asked for few of the inputs */
	static unsigned asked;
	bool pfm = event->naming == NAMED_PFM || (event->definition && strstr(event->definition->name, "fp-"));
	if (pfm && asked++ % 128)
		return;
	for (size_t i = 0;; i++) {
		struct event_encoding encoding;
		struct error err = {0};
		check(i < 100, "encodings without end");
		if (event_encode(event, machine, i, &encoding, &err)) {
			check(encoding.scale > 0 && encoding.how, "an encoding without a scale");
			continue;
		}
		check(err.text[0] != '\0', "an encoding failed without a text");
		if (err.code == ERROR_NOT_FOUND)
			break;
		check(err.code == ERROR_UNSUPPORTED || (!event->definition && err.code == ERROR_USAGE),
		      "another code");
	}
}

/* Making a table costs more than most inputs, so one is kept; its arena grows, so not for ever. */
static struct event_table *fresh_table(struct event_table *kept, unsigned *used)
{
	struct error err = {0};
	if ((*used)++ % 5000 != 0)
		return kept;
	event_table_free(kept);
	kept = event_table_new(&err);
	check(kept != NULL, err.text);
	return kept;
}

static void fuzz_rows(const uint8_t *data, size_t size)
{
	static struct event_table *table;
	static unsigned used;
	struct error err = {0};
	table = fresh_table(table, &used);
	size_t before = event_table_count(table);
	if (!event_table_add(table, (const char *)data, size, "f", &err)) {
		check(strncmp(err.text, "f:", 2) == 0, "an error without a place");
		check(event_table_count(table) == before, "half a text was added");
	}
	for (size_t i = before; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		struct event event;
		check(row->definition && row->unit && row->scope && row->counted_by && row->aliases, "half a row");
		check(event_table_find(table, row->name) == row, "a row is not found by its name");
		check(event_parse(table, row->name, &event, &err) && event.definition == row,
		      "a row does not parse");
	}
}

static void fuzz_list(const char *list)
{
	static struct event_table *table;
	static unsigned used;
	static const struct event_machine machines[] = {
		{.sysfs_root = "/sys/bus/event_source/devices", .family = "intel", .absent_pmus = true},
		{.sysfs_root = "/nowhere", .family = "armv8"},
	};
	struct error err = {0};
	struct event *events = NULL;
	size_t n = 0;
	table = fresh_table(table, &used);
	check(event_parse_list(table, "cycles", &events, &n, &err) && n == 1, "cycles does not parse");
	/* finding the nearest names costs most of the time: it is wanted for few of the inputs */
	bool told = used % 64 == 0;
	if (!event_parse_list(table, list, &events, &n, told ? &err : NULL))
		check(n == 1 && (!told || err.text[0]), "a list failed and changed something, or gave no reason");
	check(n >= 1 && n <= EVENT_LIST_MOST && strcmp(events[0].label, "cycles") == 0, "the list was damaged");
	for (size_t i = 1; i < n && i < 8; i++)
		check_event(table, &events[i], &machines[used & 1]);
	free(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && *data == 'E') {
		fuzz_rows(data + 1, size - 1);
		return 0;
	}
	char *list = malloc(size + 1);
	check(list != NULL, "no memory");
	if (size)
		memcpy(list, data, size);
	list[size] = '\0';
	fuzz_list(list);
	free(list);
	return 0;
}

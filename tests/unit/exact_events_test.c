/* Every static event of the engine, by its value: one execution of each instruction of exact_rows.S counts as what stands beside it, and as
 * nothing else; and every event has a row that moves it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/events.h"
#include "engine/x86/vector.h"
#include "tap.h"

struct row {
	const uint8_t *code, *end;
	const char *expected;
};
extern const struct row rows[], rows_end[];

enum { EVENTS_MOST = 128 };
static uint64_t expected[EVENTS_MOST];
static bool moved[EVENTS_MOST];

static size_t index_of(const char *name)
{
	for (size_t i = 0; i < exact_event_count(); i++)
		if (!strcmp(exact_event_at(i)->name, name))
			return i;
	printf("Bail out! no event '%s'\n", name);
	exit(1);
}

static void add(const char *name, uint64_t n) { expected[index_of(name)] += n; }

static void add_of(const char *begin, const char *middle, const char *end, uint64_t n)
{
	char name[64];
	snprintf(name, sizeof name, "%s%s%s", begin, middle, end);
	add(name, n);
}

static void access(bool reads, bool writes, unsigned bytes)
{
	add("loads", reads), add("loads-and-prefetches", reads), add("data-reads", reads),
		add("data-read-bytes", reads * bytes);
	add("stores", writes), add("data-writes", writes), add("data-write-bytes", writes * bytes);
	add("data-accesses", reads + writes);
}

/* WIDTH-PRECISION:OPERATIONS */
static void floating(const char *text, bool fused)
{
	char width[16], precision[16], kind[40];
	unsigned operations;
	if (sscanf(text, "%15[^-]-%15[^:]:%u", width, precision, &operations) != 3)
		exit(1);
	bool scalar = !strcmp(width, "scalar"), half = !strcmp(precision, "half");
	add("vector-instructions", 1), add("fp-instructions", 1);
	add("fp-operations", operations), add("fp-sse-operations", operations), add("pentium-flops", operations);
	add_of("fp-", precision, "-operations", operations);
	add("fma-instructions", fused);
	add("packed-instructions", !scalar);
	if (half)
		return; /* no event tells widths apart there */
	snprintf(kind, sizeof kind, "%s-%s", width, precision);
	add_of(fused ? "fma-" : "fp-", kind, "", 1);
	add_of("fp-", kind, "-operations", operations);
	if (!scalar)
		add_of("fp-vector-", precision, "", 1);
}

static void expect(const char *word)
{
	char name[64];
	unsigned n;
	if (!strcmp(word, "I"))
		add("integer-instructions", 1);
	else if (!strcmp(word, "V"))
		add("vector-instructions", 1);
	else if (!strcmp(word, "B"))
		add("branches", 1), add("unconditional-branches", 1), add("taken-branches", 1);
	else if (sscanf(word, "LS%u", &n) == 1)
		access(true, true, n), add("memory-instructions", 1);
	else if (sscanf(word, "L%u,S%u", &n, &n) == 2)
		access(true, false, n), access(false, true, n), add("memory-instructions", 1);
	else if (sscanf(word, "L%u", &n) == 1)
		access(true, false, n), add("memory-instructions", 1);
	else if (sscanf(word, "S%u", &n) == 1)
		access(false, true, n), add("memory-instructions", 1);
	else if (sscanf(word, "x87:%u", &n) == 1)
		add("x87-instructions", 1), add("x87-operations", n), add("fp-operations", n),
			add("fp-instructions", n > 0), add("pentium-flops", n);
	else if (!strncmp(word, "fp:", 3) || !strncmp(word, "fma:", 4))
		floating(strchr(word, ':') + 1, word[1] == 'm');
	else if (sscanf(word, "%63[^=]=%u", name, &n) == 2)
		add(name, n);
	else
		exit(1);
	if (!strcmp(word, "loads=1") || !strcmp(word, "prefetch-instructions=1") || !strcmp(word, "fences=1"))
		add("loads-and-prefetches", 1);
	if (!strcmp(word, "integer-multiplies=1"))
		add("pentium-flops", 1);
}

static bool as_expected(const struct row *row, struct x86_insn *insn)
{
	struct exact_vector vector = {0};
	struct exact_each each;
	uint64_t count[COUNTS] = {0}, value;
	bool good = x86_decode(row->code, (size_t)(row->end - row->code), insn) == X86_DECODE_OK &&
		    insn->length == row->end - row->code;
	exact_vector_add(&vector, insn, &each);
	for (size_t i = 0; i < COUNT_STATIC; i++)
		count[i] = vector.of[i];
	/* nothing is misaligned here: then they are the accesses */
	add("pentium-data-reads", expected[index_of("data-reads")]);
	add("pentium-data-writes", expected[index_of("data-writes")]);
	for (size_t i = 0; i < exact_event_count(); i++) {
		const struct exact_event *event = exact_event_at(i);
		if (!exact_event_value(event, count, &value)) {
			printf("# %s has no value\n", event->name);
			good = false;
		} else if (value != expected[i]) {
			printf("# %s: %llu, but it is %llu\n", event->name, (unsigned long long)value,
			       (unsigned long long)expected[i]);
			good = false;
		}
		moved[i] |= expected[i] > 0;
	}
	return good;
}

int main(void)
{
	for (const struct row *row = rows; row < rows_end; row++) {
		char words[256], code[64] = "";
		struct x86_insn insn = {0};
		memset(expected, 0, sizeof expected);
		add("instructions", 1);
		snprintf(words, sizeof words, "%s", row->expected);
		for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
			expect(word);
		for (const uint8_t *c = row->code; c < row->end && c < row->code + 15; c++)
			sprintf(code + strlen(code), "%02x", *c);
		ok(as_expected(row, &insn), "%s: %s", code, row->expected);
	}
	for (size_t i = 0; i < exact_event_count(); i++) {
		const struct exact_event *event = exact_event_at(i);
		bool dynamic = exact_event_uses(event, COUNT_TAKEN) && !moved[i];
		for (unsigned c = COUNT_STATIC; c < COUNTS; c++)
			dynamic |= exact_event_uses(event, (enum exact_count)c) && !moved[i];
		ok(moved[i] || dynamic, "%s: %s", event->name,
		   dynamic ? "is of counters, not of instructions" : "a row moves it");
	}
	return done();
}

#include "backend/engine/events.h"

#include <string.h>

#define P(count) ((count) + 1)
#define WIDTH(w, p, what) P(COUNT_FP_WIDTH(w, p, what))
#define FP_ROWS(text, w, p)                                                                                       \
	{"fp-" text, {WIDTH(w, p, 0)}, 0, NULL}, {"fma-" text, {WIDTH(w, p, 1)}, 0, NULL},                        \
	{                                                                                                         \
		"fp-" text "-operations", {WIDTH(w, p, 2)}, 0, NULL                                               \
	}

static const struct exact_event events[] = {
	{"instructions", {P(COUNT_INSTRUCTIONS)}, 0, NULL},
	{"basic-blocks", {P(COUNT_BASIC_BLOCKS)}, 0, NULL},
	{"loads", {P(COUNT_LOADS)}, 0, NULL},
	{"loads-and-prefetches", {P(COUNT_LOADS), P(COUNT_PREFETCH), P(COUNT_FENCES)}, 0, NULL},
	{"stores", {P(COUNT_STORES)}, 0, NULL},
	{"memory-instructions", {P(COUNT_MEMORY)}, 0, NULL},
	{"data-reads", {P(COUNT_READS)}, 0, NULL},
	{"data-writes", {P(COUNT_WRITES)}, 0, NULL},
	{"data-accesses", {P(COUNT_READS), P(COUNT_WRITES)}, 0, NULL},
	{"data-read-bytes", {P(COUNT_READ_BYTES)}, 0, NULL},
	{"data-write-bytes", {P(COUNT_WRITE_BYTES)}, 0, NULL},
	{"misaligned-accesses", {P(COUNT_MISALIGNED)}, 0, NULL},
	{"pentium-misaligned-accesses", {P(COUNT_PENTIUM_MISALIGNED)}, 0, NULL},
	{"pentium-data-reads", {P(COUNT_READS), P(COUNT_PENTIUM_MISALIGNED_READS)}, 0, NULL},
	{"pentium-data-writes",
	 {P(COUNT_WRITES), P(COUNT_PENTIUM_MISALIGNED)},
	 P(COUNT_PENTIUM_MISALIGNED_READS),
	 NULL},
	{"line-crossing-accesses", {P(COUNT_LINE_CROSSING)}, 0, NULL},
	{"page-crossing-accesses", {P(COUNT_PAGE_CROSSING)}, 0, NULL},
	{"line-crossing-loads", {P(COUNT_LINE_CROSSING_READS)}, 0, NULL},
	{"line-crossing-stores", {P(COUNT_LINE_CROSSING_WRITES)}, 0, NULL},
	{"prefetch-instructions", {P(COUNT_PREFETCH)}, 0, NULL},
	{"non-temporal-stores", {P(COUNT_NON_TEMPORAL)}, 0, NULL},
	{"locked-instructions", {P(COUNT_LOCKED)}, 0, NULL},
	{"fences", {P(COUNT_FENCES)}, 0, NULL},
	{"gathers", {P(COUNT_GATHERS)}, 0, NULL},
	{"scatters", {P(COUNT_SCATTERS)}, 0, NULL},
	{"rep-instructions", {P(COUNT_REP)}, 0, NULL},
	{"rep-iterations", {P(COUNT_ITERATIONS)}, 0, NULL},
	{"string-instructions", {P(COUNT_STRING)}, 0, NULL},

	{"branches",
	 {P(COUNT_CONDITIONAL), P(COUNT_DIRECT_JUMPS), P(COUNT_INDIRECT_JUMPS), P(COUNT_DIRECT_CALLS),
	  P(COUNT_INDIRECT_CALLS), P(COUNT_RETURNS)},
	 0,
	 NULL},
	{"conditional-branches", {P(COUNT_CONDITIONAL)}, 0, NULL},
	{"conditional-taken", {P(COUNT_TAKEN)}, 0, NULL},
	{"conditional-not-taken", {P(COUNT_CONDITIONAL)}, P(COUNT_TAKEN), NULL},
	{"taken-branches",
	 {P(COUNT_TAKEN), P(COUNT_DIRECT_JUMPS), P(COUNT_INDIRECT_JUMPS), P(COUNT_DIRECT_CALLS),
	  P(COUNT_INDIRECT_CALLS), P(COUNT_RETURNS)},
	 0,
	 NULL},
	{"unconditional-branches",
	 {P(COUNT_DIRECT_JUMPS), P(COUNT_INDIRECT_JUMPS), P(COUNT_DIRECT_CALLS), P(COUNT_INDIRECT_CALLS),
	  P(COUNT_RETURNS)},
	 0,
	 NULL},
	{"direct-jumps", {P(COUNT_DIRECT_JUMPS)}, 0, NULL},
	{"indirect-jumps", {P(COUNT_INDIRECT_JUMPS)}, 0, NULL},
	{"calls", {P(COUNT_DIRECT_CALLS), P(COUNT_INDIRECT_CALLS)}, 0, NULL},
	{"direct-calls", {P(COUNT_DIRECT_CALLS)}, 0, NULL},
	{"indirect-calls", {P(COUNT_INDIRECT_CALLS)}, 0, NULL},
	{"returns", {P(COUNT_RETURNS)}, 0, NULL},
	{"code-lines", {P(COUNT_CODE_LINES)}, 0, NULL},
	{"code-pages", {P(COUNT_CODE_PAGES)}, 0, NULL},

	{"fp-instructions", {P(COUNT_FP)}, 0, NULL},
	{"fp-operations", {P(COUNT_FP_OPERATIONS)}, 0, NULL},
	{"pentium-flops", {P(COUNT_PENTIUM_FLOPS)}, 0, NULL},
	{"fp-single-operations", {P(COUNT_SINGLE_OPERATIONS)}, 0, NULL},
	{"fp-double-operations", {P(COUNT_DOUBLE_OPERATIONS)}, 0, NULL},
	{"fp-half-operations", {P(COUNT_HALF_OPERATIONS)}, 0, NULL},
	{"fp-sse-operations", {P(COUNT_SSE_OPERATIONS)}, 0, NULL},
	{"fma-instructions", {P(COUNT_FMA)}, 0, NULL},
	FP_ROWS("scalar-single", 0, 0),
	FP_ROWS("scalar-double", 0, 1),
	FP_ROWS("128-single", 1, 0),
	FP_ROWS("128-double", 1, 1),
	FP_ROWS("256-single", 2, 0),
	FP_ROWS("256-double", 2, 1),
	FP_ROWS("512-single", 3, 0),
	FP_ROWS("512-double", 3, 1),
	{"fp-vector-single", {P(COUNT_VECTOR_SINGLE)}, 0, NULL},
	{"fp-vector-double", {P(COUNT_VECTOR_DOUBLE)}, 0, NULL},
	{"fp-divides", {P(COUNT_FP_DIVIDES)}, 0, NULL},
	{"fp-square-roots", {P(COUNT_SQUARE_ROOTS)}, 0, NULL},
	{"fp-conversions", {P(COUNT_CONVERSIONS)}, 0, NULL},
	{"fp-integer-conversions", {P(COUNT_INTEGER_CONVERSIONS)}, 0, NULL},
	{"x87-instructions", {P(COUNT_X87)}, 0, NULL},
	{"x87-operations", {P(COUNT_X87_OPERATIONS)}, 0, NULL},

	{"integer-instructions", {P(COUNT_INTEGER)}, 0, NULL},
	{"integer-multiplies", {P(COUNT_MULTIPLIES)}, 0, NULL},
	{"integer-divides", {P(COUNT_DIVIDES)}, 0, NULL},
	{"vector-instructions", {P(COUNT_VECTOR)}, 0, NULL},
	{"vector-integer-instructions", {P(COUNT_VECTOR_INTEGER)}, 0, NULL},
	{"packed-instructions", {P(COUNT_PACKED)}, 0, NULL},
	{"crypto-instructions", {P(COUNT_CRYPTO)}, 0, NULL},
	{"nops", {P(COUNT_NOPS)}, 0, NULL},
	{"segment-loads", {P(COUNT_SEGMENT_LOADS)}, 0, NULL},
	{"cpuid-instructions", {P(COUNT_CPUID)}, 0, NULL},
	{"tsc-reads", {P(COUNT_TSC)}, 0, NULL},
	{"serialising-instructions", {P(COUNT_SERIALISING)}, 0, NULL},
	{"system-calls", {P(COUNT_SYSTEM_CALLS)}, 0, NULL},
};

size_t exact_event_count(void) { return sizeof events / sizeof *events; }
const struct exact_event *exact_event_at(size_t index) { return &events[index]; }

const struct exact_event *exact_event_find(const struct event *event)
{
	if (!event->definition || !(event->definition->counted_by & COUNTED_BY_EXACT))
		return NULL;
	for (size_t i = 0; i < exact_event_count(); i++)
		if (!strcmp(events[i].name, event->definition->name))
			return &events[i];
	return NULL;
}

bool exact_event_uses(const struct exact_event *event, enum exact_count count)
{
	for (const uint8_t *p = event->plus; *p; p++)
		if (*p == P(count))
			return true;
	return event->minus == P(count);
}

bool exact_event_needs_trace(const struct exact_event *event)
{
	for (unsigned i = COUNT_STREAM; i < COUNT_STREAM_END; i++)
		if (exact_event_uses(event, (enum exact_count)i))
			return true;
	return false;
}

const char *exact_event_unknown(const struct exact_event *event, const struct tally *tally)
{
	if (tally->why || event->why_not)
		return tally->why ? tally->why : event->why_not;
	if (exact_event_uses(event, COUNT_PENTIUM_FLOPS) && tally->total[COUNT_TRANSCENDENTAL])
		return "the program used x87 instructions for transcendental functions (fsin and the like): the "
		       "Pentium counts several operations for "
		       "each, and no source says how many (Safford 1997, Appendix A); fp-operations counts each "
		       "as one";
	for (unsigned i = 0; i < COUNTS; i++)
		if (tally->unknown[i] && exact_event_uses(event, (enum exact_count)i))
			return tally->unknown[i];
	return NULL;
}

bool exact_event_value(const struct exact_event *event, const uint64_t count[COUNTS], uint64_t *out)
{
	*out = 0;
	for (const uint8_t *p = event->plus; *p; p++)
		if (__builtin_add_overflow(*out, count[*p - 1], out))
			return false;
	return !event->minus || !__builtin_sub_overflow(*out, count[event->minus - 1], out);
}

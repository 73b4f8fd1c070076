/*
 * What one execution of an instruction adds to each static event: what the encoding alone tells
 * (engine/x86/decode.h).
 *
 * What always holds:
 *  1. A vector says nothing that depends on data: taken branches and rep iterations are counters of the record. A
 *     masked vector instruction counts by its full width, as data/events/program.events has it.
 *  2. Of an instruction that the decoder does not know (X86_CLASS_UNKNOWN) it is counted that it is one, and no
 *     more.
 *  3. What a rep string instruction reads and writes is per iteration, and how much xsave, its kin and tiles move
 *     a counter of the record: in `each`, and not in the vector itself.
 */
#ifndef TARE_ENGINE_X86_VECTOR_H
#define TARE_ENGINE_X86_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/x86/decode.h"

enum exact_count {
	COUNT_INSTRUCTIONS,
	COUNT_LOADS,
	COUNT_STORES,
	COUNT_MEMORY, /* instructions; MEMORY: either */
	COUNT_READS,
	COUNT_WRITES,
	COUNT_READ_BYTES,
	COUNT_WRITE_BYTES,
	COUNT_PREFETCH,
	COUNT_NON_TEMPORAL,
	COUNT_LOCKED,
	COUNT_FENCES,
	COUNT_GATHERS,
	COUNT_SCATTERS,
	COUNT_REP,
	COUNT_STRING,
	COUNT_CONDITIONAL,
	COUNT_DIRECT_JUMPS,
	COUNT_INDIRECT_JUMPS,
	COUNT_DIRECT_CALLS,
	COUNT_INDIRECT_CALLS,
	COUNT_RETURNS,
	COUNT_FP,
	COUNT_FP_OPERATIONS,
	COUNT_SINGLE_OPERATIONS,
	COUNT_DOUBLE_OPERATIONS,
	COUNT_HALF_OPERATIONS,
	COUNT_SSE_OPERATIONS,
	COUNT_FMA,
	/* by width (scalar, 128, 256, 512) and precision (single, double): instructions but FMA, FMA,
	 * operations */
	COUNT_FP_WIDTHS,
	COUNT_FP_WIDTHS_END = COUNT_FP_WIDTHS + 4 * 2 * 3,
	COUNT_VECTOR_SINGLE = COUNT_FP_WIDTHS_END,
	COUNT_VECTOR_DOUBLE,
	COUNT_FP_DIVIDES,
	COUNT_SQUARE_ROOTS,
	COUNT_CONVERSIONS,
	COUNT_INTEGER_CONVERSIONS,
	COUNT_X87,
	COUNT_X87_OPERATIONS,
	COUNT_INTEGER,
	COUNT_MULTIPLIES,
	COUNT_DIVIDES,
	COUNT_VECTOR,
	COUNT_VECTOR_INTEGER,
	COUNT_PACKED,
	COUNT_CRYPTO,
	COUNT_NOPS,
	COUNT_SEGMENT_LOADS,
	COUNT_CPUID,
	COUNT_TSC,
	COUNT_SERIALISING,
	COUNT_SYSTEM_CALLS,
	/* Safford's Appendix A, event 0x22; of x87, instructions that count there more than once */
	COUNT_PENTIUM_FLOPS,
	COUNT_TRANSCENDENTAL,
	/* instructions in no table of the decoder's: if any was executed, what depends on its kind is not known */
	COUNT_UNKNOWN,
	COUNT_EXTENDED, /* instructions that name one of r16 to r31, whose accesses the stream leaves out */
	COUNT_STATIC,   /* how many a vector has; the rest comes from counters of the record */
	COUNT_TAKEN = COUNT_STATIC,
	COUNT_ITERATIONS,
	COUNT_BASIC_BLOCKS,
	/* from here on: of the access stream (model/core/counts.h), known only if that was asked for */
	COUNT_STREAM,
	COUNT_MISALIGNED = COUNT_STREAM,
	COUNT_LINE_CROSSING,
	COUNT_LINE_CROSSING_READS,
	COUNT_LINE_CROSSING_WRITES,
	COUNT_PAGE_CROSSING,
	COUNT_PENTIUM_MISALIGNED,
	COUNT_PENTIUM_MISALIGNED_READS,
	COUNT_STREAM_END,
	COUNT_CODE_LINES = COUNT_STREAM_END,
	COUNT_CODE_PAGES,
	COUNTS
};

/* Index of what, 0 instructions, 1 FMA, 2 operations, in width (0 scalar, 1 128, 2 256, 3 512) and precision (0
 * single, 1 double). */
#define COUNT_FP_WIDTH(width, precision, what) (COUNT_FP_WIDTHS + ((width)*2 + (precision)) * 3 + (what))

struct exact_vector {
	uint32_t of[COUNT_STATIC]; /* a block has at most 65535 instructions of at most 64 operations each */
};

/* What an instruction adds for each unit of what its encoding does not tell. Each such instruction has a counter
   of its own in the record (struct record_site), and is the last one of its block. */
enum exact_unit {
	EXACT_NONE,
	EXACT_ITERATIONS, /* of a rep string instruction */
	EXACT_AMOUNT,     /* bytes or FP operations that depend on the processor's state (engine/x86/xstate.h) */
};
#define EXACT_EACH 5u
struct exact_each {
	uint8_t unit; /* enum exact_unit */
	uint8_t n;
	struct {
		uint8_t of, times;
	} adds[EXACT_EACH]; /* of: enum exact_count */
};

/* What such an instruction leaves in doubt: all but instructions, blocks, branches, system calls, rep, x87 and
 * code. */
bool exact_count_needs_kind(enum exact_count count);

void exact_vector_add(struct exact_vector *vector, const struct x86_insn *insn, struct exact_each *each);

#endif

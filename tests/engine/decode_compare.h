/*
 * Compares one decoding with Zydis', fact by fact. Used by decode_oracle.c (sweeps) and tests/fuzz/fuzz_decode.c.
 *
 * A disagreement is either listed in decode_differences.h, with its reason, and counted; or it fails.
 */
#ifndef TARE_TESTS_ENGINE_DECODE_COMPARE_H
#define TARE_TESTS_ENGINE_DECODE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// clang-format off: a table, a row a line
enum decode_fact {
	FACT_VALIDITY,
	FACT_LENGTH,
	FACT_LAYOUT,
	FACT_REGISTERS,
	FACT_FLOW,
	FACT_TARGET,
	FACT_IMMEDIATE,
	FACT_SIZES,
	FACT_FLAGS_READ,
	FACT_FLAGS_WRITTEN,
	FACT_FLAGS_UNDEFINED,
	FACT_GPR_READ,
	FACT_GPR_WRITTEN,
	FACT_MEMORY_COUNT,
	FACT_MEMORY_ADDRESS,
	FACT_MEMORY_WIDTH,
	FACT_MEMORY_ACCESS,
	FACT_MEMORY_CONDITIONAL,
	FACT_LOAD_STORE,
	FACT_LOCKED,
	FACT_STRING,
	FACT_X87,
	FACT_FP,
	FACT_FP_PRECISION,
	FACT_FP_OPERATIONS,
	FACT_CONVERT,
	FACT_PREFETCH,
	FACT_GATHER,
	FACT_NOP,
	FACT_VECTOR,
	FACT_MASKED,
	FACT_DIVIDES,
	FACT_SQUARE_ROOTS,
	FACT_INT_MUL,
	FACT_INT_DIV,
	FACT_X87_ARITH,
	FACT_VECTOR_INT,
	FACT_FENCE,
	FACT_CRYPTO,
	FACT_TRUNCATION,
	FACT_COUNT,
};
// clang-format on

struct decode_tally {
	uint64_t compared; /* byte strings given to both decoders */
	uint64_t valid;    /* of which both call an instruction */
	uint64_t
		newer; /* of which only this decoder does, for the manuals have it since: APX, and decode_newer.h */
	uint64_t disagreements[FACT_COUNT]; /* not listed */
	uint64_t listed[128];               /* by row of decode_differences.h */
	unsigned shown, show;               /* unlisted disagreements printed, and how many may be */
};

const char *decode_fact_name(unsigned fact);
unsigned decode_difference_rows(void);
const char *decode_difference_reason(unsigned row);
const char *decode_difference_title(unsigned row);

/* Compares the decodings of code[0 .. available). Prints the first few unlisted disagreements to stderr as TAP
   diagnostics. Returns the length to step over: the instruction's, or 1. */
unsigned decode_compare(const uint8_t *code, size_t available, struct decode_tally *tally);

uint64_t decode_tally_failures(const struct decode_tally *tally);

#endif

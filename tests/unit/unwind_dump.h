/* What unwind_program writes and unwind_test reads: first the process's mappings, as /proc/PID/maps has them (a length of 8 bytes, then
 * the text), then records. */
#ifndef TARE_TESTS_UNWIND_DUMP_H
#define TARE_TESTS_UNWIND_DUMP_H

#include <stdint.h>

enum { DUMP_TRUTH = 1100, DUMP_STACK = 8192, DUMP_REGISTERS = 33 };

struct dump {
	char name[16];
	uint32_t arm64;       /* else x86-64; registers as perf has them */
	uint32_t n_truth;     /* the callers that are known, innermost first */
	uint32_t interrupted; /* index in truth of a frame that a signal interrupted; n_truth: none */
	uint32_t whole;       /* truth goes up to main's caller; else it is the innermost part */
	uint64_t registers[DUMP_REGISTERS];
	uint64_t truth[DUMP_TRUTH];
	uint32_t stack_bytes;
	uint32_t zero;
	/* the stack follows */
};

#endif

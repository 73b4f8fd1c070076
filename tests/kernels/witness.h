/* An independent witness of what a kernel executes: the program runs by single steps (ptrace), and every
 * instruction that it completes is decoded and counted, in the program and in the processes that it starts.
 *
 * A step that leaves the program counter where it was executed nothing; so a kernel must not have an instruction
 * that jumps to itself. A system call that does not return (exit) counts. */
#ifndef TARE_TESTS_KERNELS_WITNESS_H
#define TARE_TESTS_KERNELS_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

struct executed {
	uint64_t instructions;
	uint64_t loads, stores; /* instructions that read, or write, memory; one that does both counts in both */
	uint64_t branches;      /* all that can change the flow: conditional or not, calls, returns */
	uint64_t conditional_branches, taken_branches;
	uint64_t conditional_taken, conditional_not_taken, calls, returns, system_calls;
	uint64_t fp_scalar_single, fp_scalar_double, fma_scalar_double, fp_operations;
	uint64_t misaligned, line_crossing; /* accesses; lines of 64 bytes */
};

enum { GENERAL_REGISTERS = 32 };

/* One decoded instruction. Its address of data, where it has one, is base + index·scale + displacement. */
struct instruction {
	unsigned bytes;
	bool load, store, branch, conditional, call, is_return, system_call;
	unsigned fp_single, fp_double, fma_double; /* scalar instructions */
	unsigned
	    access_bytes; /* 0: no address that this decoder tells (a call's and a return's stack is aligned) */
	int base, index;  /* register numbers; -1: none */
	unsigned scale;
	int64_t displacement; /* the instruction's own address included, where that is the base */
};

/* code: the bytes at the instruction (at `pc`), `available` of them. False: not one that this decoder knows. */
bool instruction_decode(const uint8_t *code, unsigned available, uint64_t pc, struct instruction *out);

/* Runs argv (a path) to its end. all: with the processes that it started; self: without. False with the reason. */
bool witness_run(char *const *argv, struct executed *all, struct executed *self, char why[256]);

#endif

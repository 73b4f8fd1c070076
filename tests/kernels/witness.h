/* An independent witness of what a kernel executes: the program runs by single steps (ptrace), and every instruction that
 * it completes is decoded and counted, in the program and in the processes that it starts.
 *
 * A step that leaves the program counter where it was executed nothing; so a kernel must not have an instruction that
 * jumps to itself. A system call that does not return (exit) counts. */
#ifndef TARE_TESTS_KERNELS_WITNESS_H
#define TARE_TESTS_KERNELS_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

struct executed {
	uint64_t instructions;
	uint64_t loads, stores; /* instructions that read, or write, memory; one that does both counts in both */
	uint64_t branches;      /* all that can change the flow: conditional or not, calls, returns */
	uint64_t branches_conditional, branches_taken;
	uint64_t calls, returns, syscalls;
};

/* One decoded instruction. */
struct instruction {
	unsigned bytes;
	bool load, store, branch, conditional, call, is_return, syscall;
};

/* code: the bytes at the instruction, `available` of them. False: not an instruction that this decoder knows. */
bool instruction_decode(const uint8_t *code, unsigned available, struct instruction *out);


/* Runs argv (a path) to its end. all: with the processes that it started; self: without. False with the reason. */
bool witness_run(char *const *argv, struct executed *all, struct executed *self, char why[256]);

#endif

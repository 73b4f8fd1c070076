/* All registers that a program can see, before and after a call: see harness_x86_64.S, harness_aarch64.S. */
#ifndef STUBS_STATE_H
#define STUBS_STATE_H

#include <stdint.h>

enum { VECTOR_BYTES = 16384, GENERAL = 32 };

/* Its offsets are known to the harness. */
struct state {
	unsigned char vectors[VECTOR_BYTES]; /* x86-64: as xsave writes it. arm64: see there */
	uint64_t general[GENERAL];
	uint64_t flags;
	uint64_t harness_sp;
} __attribute__((aligned(64)));

/* Loads all of *in, calls target with the stack pointer `stack`, keeps all in *out. The 24 bytes at `stack` are
 * the harness's own; the stack below is the target's. */
void harness_call(const struct state *in, struct state *out, void (*target)(void), void *stack);

/* What the machine has and harness_call() loads: 0 first. */
extern uint64_t harness_components;

/* A function that changes all that a function of C may change. */
void harness_change_all(void);

/* Stubs that forget one thing each. */
struct forgetful {
	const char *what;
	void (*stub)(void);
	uint64_t needs; /* bits of harness_components */
};
extern const struct forgetful harness_forgetful[]; /* ends with NULL */

/* {begin, end} of each number, and tare_asm_init: by their addresses */
extern void (*const harness_stubs[])(void);

/* The same by the procedure linkage table; NULL first where that is not expected to preserve all. */
extern void (*const harness_linked[])(void);

#endif

/*
 * Starting a program under the exact engine and reading its counts.
 *
 * What always holds:
 *  1. Between engine_start and engine_wait the caller traces nothing: the engine has detached already.
 *  2. Counts may be read after engine_wait. engine_inexact() is asked first: not NULL means that the counts are not
 *     the program's, and why.
 */
#ifndef TARE_ENGINE_INJECT_H
#define TARE_ENGINE_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct engine_run;

struct engine_options {
	size_t size;         /* sizeof (struct engine_options) */
	char *const *argv;   /* borrowed; argv[0] is looked up in PATH */
	char *const *envp;   /* borrowed; NULL: the caller's environment */
	int stdio[3];        /* descriptors that become 0 1 2; -1: inherit */
	bool fixed_addresses; /* address-space randomisation off */
};

struct engine_totals {
	uint64_t instructions, blocks, loads, stores;
	uint64_t branches, conditional, taken, calls, returns, syscalls;
};

struct engine_block {
	uint64_t address, count;
	uint32_t length_bytes, insns;
};

/* On success stores a run that the caller frees with engine_free(), and the program is running. On failure returns
   -1, *out is NULL and error (of error_size bytes) says why. */
int engine_start(const struct engine_options *options, struct engine_run **out, char *error, size_t error_size);
pid_t engine_pid(const struct engine_run *run);
/* Waits for the end of the program; returns its wait status, or -1 with errno. */
int engine_wait(struct engine_run *run);
/* Why the counts are not exact, or NULL when they are. Borrowed from the run. */
const char *engine_inexact(const struct engine_run *run);
void engine_get_totals(const struct engine_run *run, struct engine_totals *out);
/* Blocks in order of first execution; index < engine_block_count(). */
size_t engine_block_count(const struct engine_run *run);
struct engine_block engine_get_block(const struct engine_run *run, size_t index);
void engine_free(struct engine_run *run);

#endif

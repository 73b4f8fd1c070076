/* Random programs and walks through them, as traces: every kind of item and mark of engine/wire/trace.h. All of a seed. */
#ifndef TARE_TESTS_MODEL_WALKS_H
#define TARE_TESTS_MODEL_WALKS_H

#include "declared.h"
#include "engine/wire/trace.h"

enum {
	BLOCKS = 14,
	ITEMS_MOST = 12,
	VALUES_MOST = 32,
	RECORDS_MOST = 10000,
	CORES_MOST = 3,
	NUMBERS_APART =
		1
		<< 18 /* of some blocks: the core may keep what it knows of blocks by number modulo a power of two */
};

struct program {
	struct trace_block blocks[BLOCKS];
	uint32_t numbers[BLOCKS]; /* what they are called in the trace */
	struct trace_item items[BLOCKS * ITEMS_MOST];
	uint32_t n_items;
};

struct record {
	uint64_t entries[2 + VALUES_MOST];
	uint8_t n, core;
};

struct walk {
	struct record records[RECORDS_MOST];
	size_t n;
	uint64_t cut;  /* seed of where buffers are cut */
	unsigned cuts; /* one in so many */
	bool late;     /* cores begin when they are first used */
	bool many;     /* cores, by their numbers: more than the table of holders tells apart */
};
enum { NUMBERS = 3 * NUMBERS_APART };

/* usual: as compilers write code, and as it runs: long loops, registers that move by strides; else anything */
void random_program(struct random *r, struct program *p, bool usual);
void random_walk(struct random *r, const struct machine *machine, const struct program *p, struct walk *w,
		 size_t n, unsigned cores, bool usual);

/* Zeroed memory; what is never touched costs nothing. */
void *sparse(size_t bytes);

#endif

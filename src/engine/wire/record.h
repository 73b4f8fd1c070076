/*
 * What the runtime writes and the host reads: one shared memory file per measured process.
 *
 * What always holds:
 *  1. The file is header, thread page, counters, blocks, at the offsets below; it outlives the process.
 *  2. A block's record is complete before block_count includes it, and never changes afterwards.
 *  3. inexact is non-zero as soon as the counts may differ from what the program did; reason says why. The first
 *     reason stays.
 */
#ifndef TARE_ENGINE_WIRE_RECORD_H
#define TARE_ENGINE_WIRE_RECORD_H

#include <stdint.h>

#define RECORD_BLOCKS_MAX (1u << 20)
#define RECORD_HEADER_BYTES 4096u
#define RECORD_THREAD_BYTES 4096u /* the thread's page; counters follow it, so gs reaches both */
#define RECORD_COUNTERS_BYTES (RECORD_BLOCKS_MAX * 16u)
#define RECORD_BLOCKS_OFFSET (RECORD_HEADER_BYTES + RECORD_THREAD_BYTES + RECORD_COUNTERS_BYTES)
#define RECORD_BYTES (RECORD_BLOCKS_OFFSET + (uint64_t)RECORD_BLOCKS_MAX * sizeof(struct record_block))
#define RECORD_MAGIC 0x45524154u

struct record_header {
	uint32_t magic; /* set by the runtime when it has taken over */
	uint32_t inexact;
	uint32_t block_count;
	uint32_t unused;
	char reason[256];
};

/* What one execution of a basic block adds. */
struct record_block {
	uint64_t address; /* of the first instruction, in the process */
	uint32_t length_bytes;
	uint32_t insns;
	uint32_t loads, stores;
	uint8_t conditional, calls, returns, jumps; /* at most one each: the last instruction */
	uint8_t syscall, pad[3];
};

/* counters[2 * block] is how often it ran, counters[2 * block + 1] how often its conditional branch was taken */
#endif

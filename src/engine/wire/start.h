/*
 * What the host leaves for runtime_start, at the address in rdi, on the runtime's stack. The stack pointer is
 * below it, 64-byte aligned. All addresses are the target's.
 *
 * The host has mapped: the flat image (private, read-write-execute, of a file that is sealed against writing;
 * behind the code lie the setup, the machines and the regions asked for), a stack, and the record's first pages
 * up to the end of the process table (RECORD_SPACE_OFFSET bytes, shared): `record`. No descriptor is left open.
 * To map other parts of the file, the runtime duplicates that mapping: mremap(record, 0, length, MREMAP_MAYMOVE)
 * yields a second mapping from the file's offset 0 on, of any length, and mremap(record + n, 0, …) one from
 * offset n on (n < RECORD_SPACE_OFFSET). For an area at a larger offset: map from n on with length offset - n +
 * bytes, and unmap the front. Nothing is allocated until it is touched.
 */
#ifndef TARE_ENGINE_WIRE_START_H
#define TARE_ENGINE_WIRE_START_H
#include <stdint.h>

#include "engine/wire/record.h"

/* where the image is wished to be, in every program: see runtime/os/seccomp.c */
#define START_IMAGE_PLACE 0x7edf00000000ull
/* and the others, below it: not between the program's libraries and its stack, where the program looks for room */
#define START_RECORD_PLACE 0x7ede00000000ull
#define START_STACK_PLACE 0x7edd00000000ull

/* Where the image says, in 8 bytes, how many bytes it begins with: those behind them, up to its end, are zeros */
#define START_FILLED_AT 24u

struct start {
	uint64_t record; /* struct record_head */
	/* this process's index: its entry is RESERVED, with pid, parent, path and modules filled */
	uint32_t process;
	uint32_t unused;
	uint64_t image, image_bytes;
	uint64_t stack, stack_bytes;
	uint64_t pc, rsp; /* where the program begins */
	/* struct record_head as the host wrote it, in the image: what no process of the record can have
	 * changed */
	uint64_t setup;
	struct record_area modules; /* this process's, filled by the host */
};
#endif

/* A recorded block, decoded from the bytes that the runtime kept. For tally.c and blocks.c only. */
#ifndef TARE_BACKEND_ENGINE_DECODED_H
#define TARE_BACKEND_ENGINE_DECODED_H

#include <stdbool.h>

#include "engine/inject/view.h"
#include "engine/x86/decode.h"

/* Calls each(arg, index, address, insn) for the instructions [from, insns) of an owner's own block, in order.
 * False when its bytes are not what it says. */
bool decoded_each(const struct view_process *owner, const struct record_block *block, uint32_t from,
		  void (*each)(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn),
		  void *arg);

/* Sorted addresses at which a basic block begins: entered by a control transfer at least once. Those of an image
 * and of all its forks. */
struct leaders {
	uint64_t *at;
	size_t count;
};
/* root: the process that inherits and continues from none. False when memory ran out. To be freed with
 * free(leaders->at). */
bool leaders_collect(const struct view_process *root, struct leaders *out);
/* The first at or above the address. */
size_t leaders_from(const struct leaders *leaders, uint64_t address);
bool leaders_has(const struct leaders *leaders, uint64_t address);

static inline const struct view_process *decoded_root(const struct view_process *p) { return p->root; }

#endif

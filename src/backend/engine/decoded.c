#include "backend/engine/decoded.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/vec.h"

bool decoded_each(const struct view_process *owner, const struct record_block *block, uint32_t from,
		  void (*each)(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn),
		  void *arg)
{
	const uint8_t *code = view_code(owner, block);
	uint32_t at = 0;
	if (!code)
		return false;
	for (uint32_t i = 0; i < block->insns; i++) {
		struct x86_insn insn;
		if (x86_decode(code + at, block->length_bytes - at, &insn) != X86_DECODE_OK)
			return false;
		if (i >= from)
			each(arg, i, block->address + at, &insn);
		at += insn.length;
	}
	return at == block->length_bytes;
}

bool leaders_collect(const struct view_process *root, struct leaders *out)
{
	VEC(uint64_t) at = {0};
	*out = (struct leaders){0};
	for (const struct view_process *p = root; p; p = p->next_kin) {
		for (uint32_t n = p->blocks.inherited; n < p->blocks.count; n++) {
			const struct record_block *b = view_block(p, n);
			if ((__atomic_load_n(&b->flags, __ATOMIC_RELAXED) & RECORD_BLOCK_LEADER) &&
			    !vec_push(&at, b->address)) {
				vec_free(&at);
				return false;
			}
		}
	}
	if (at.count)
		qsort(at.items, at.count, sizeof *at.items, order_uint64);
	size_t unique = 0;
	for (size_t i = 0; i < at.count; i++)
		if (unique == 0 || at.items[unique - 1] != at.items[i])
			at.items[unique++] = at.items[i];
	*out = (struct leaders){at.items, unique};
	return true;
}

size_t leaders_from(const struct leaders *leaders, uint64_t address)
{
	size_t low = 0, high = leaders->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (leaders->at[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool leaders_has(const struct leaders *leaders, uint64_t address)
{
	size_t at = leaders_from(leaders, address);
	return at < leaders->count && leaders->at[at] == address;
}

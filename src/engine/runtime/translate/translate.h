/* What the parts of a translation share: fetch.c, operand.c, counter.c, exits.c, translate.c. All under
 * rt.lock. */
#ifndef TARE_ENGINE_RUNTIME_TRANSLATE_TRANSLATE_H
#define TARE_ENGINE_RUNTIME_TRANSLATE_TRANSLATE_H

#include "engine/runtime/cache/cache.h"
#include "engine/runtime/translate/emit.h"

#pragma GCC visibility push(hidden)

#define INSNS_MAX 48u
#define LENGTH_MAX 512u

/* A block's instructions. */
struct decoded {
	struct x86_insn insn[INSNS_MAX + 1];
	uint8_t bytes[LENGTH_MAX + 32];
	uint64_t pc;
	unsigned count, length;
	bool checked;       /* its bytes may change unseen */
	bool truncated;     /* they end before an instruction does */
	bool invalid;       /* what follows the last instruction is none */
	bool sixteen;       /* so many bytes could be read */
	bool more;          /* there are bytes behind those available */
	unsigned available; /* bytes that could be */
	bool event;         /* no instruction: a pass begins or ends here (region/region.c) */
	uint32_t context;
	unsigned most; /* bytes, at most LENGTH_MAX: no instruction begins behind */
};

/* fetch.c. False: no instruction can be fetched there */
bool decode_block(struct translation *tr, uint32_t context, uint64_t pc, bool single);
void decode_bytes(struct translation *tr, unsigned available, unsigned most);

/* operand.c */
void copy(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc);

/* unknown.c: whether the instruction cannot be executed at `to` as it is */
bool unknown_needs_moving(const struct x86_insn *in, uint64_t pc, uint64_t to);
/* Whether this processor executes it in another way than the decoder says, or not at all. */
bool unlike_processors(const struct x86_insn *in);
/* Whether xbegin begins or aborts something, and is not #UD; the processor is asked once, and not by a probe. */
bool processor_has_transactions(bool probe);

/* counter.c. ADD, INC: flags are dead. TWICE: a cmp or test with memory is executed once for its fault, then,
   behind the add, for its flags. DEAD: a register is. END: the terminator has spilled rax anyway. NONE: the block
   follows another. STREAM: in the first group of the access stream's stores */
struct counter_place {
	unsigned insn;
	enum {
		PLACE_NONE,
		PLACE_ADD,
		PLACE_INC,
		PLACE_TWICE,
		PLACE_DEAD,
		PLACE_END,
		PLACE_SPILL,
		PLACE_STREAM
	} how;
	unsigned reg;
	int add; /* before that instruction the flags are dead; -1: nowhere */
};
struct counter_place place_counter(const struct translation *tr, const struct code_arena *arena,
				   uint8_t *entry_live, uint8_t *scratch);
void count_block(struct emit *e, struct counter_place place);
bool may_fault(const struct x86_insn *in);
void add_one(struct emit *e, uint32_t offset);
void increment_spilled(struct emit *e, uint32_t offset, unsigned reg);

/* exits.c. block_end: true if the block goes on at *next whatever happens, and nothing that leads there is
 * emitted */
bool block_end(struct emit *e, struct counter_place place, const struct x86_insn *in, const uint8_t *code,
	       unsigned k, uint64_t pc, uint64_t *next);
void linkable(struct emit *e, uint64_t target, enum exit_kind kind, unsigned condition);
void indirect_entry(struct emit *e, uint64_t pc, uint32_t context);
void simple_exit(struct emit *e, uint64_t target, enum exit_kind kind);

#pragma GCC visibility pop
#endif

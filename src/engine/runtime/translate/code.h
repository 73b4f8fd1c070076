/* What the other folders ask of translate/: a block's code, and for each of its bytes a mark: where the
 * program's registers are there. What the parts of a translation share, see translate/translate.h. */
#ifndef TARE_ENGINE_RUNTIME_TRANSLATE_CODE_H
#define TARE_ENGINE_RUNTIME_TRANSLATE_CODE_H

#include "engine/runtime/cache/cache.h"

struct translation;

#pragma GCC visibility push(hidden)

/* translate/fetch.c: not under rt.lock */
void fetch_wait(uint64_t pc);

/* translate/translate.c: under rt.lock */
/* thunk_exit: a taken branch's exit whose counter is put in front, or NONE. before: the block whose last jump it
   replaces, or NONE. parent: the block that it is to follow, or NONE; whether it does is in the result's
   `follows` */
enum translate_mode {
	TRANSLATE_BLOCK,
	TRANSLATE_SINGLE, /* one instruction, not to be found again */
	/* of a loop's block: the same counter in every turn would be a chain of stores and loads */
	TRANSLATE_COPY,
};
uint32_t translate(struct thread *t, uint64_t pc, bool indirect, enum translate_mode mode, uint32_t thunk_exit,
		   uint32_t before, uint32_t parent);
struct state_mark {
	uint32_t offset;
	uint8_t kind, spills, reg, counted;
	uint16_t insn;
	int16_t rsp;
	uint8_t stream_spills, stream_regs; /* as struct stream_group's spills: pointer | temporary << 4 */
	/* so many are complete; the third register of inline checks | flags' state << 4 (enum mark_flags) */
	uint8_t stream_groups, stream_third;
	uint8_t recency, pad; /* register that has the models' clock, plus one; 0 */
};
enum mark_kind {
	MARK_INSN,
	MARK_REP,
	MARK_TARGET,
	MARK_EXIT0,
	MARK_EXIT1,
	MARK_CALL /* as EXIT0, the target in rcx */
};
enum mark_flags { FLAGS_REAL, FLAGS_IN_AX, FLAGS_IN_AH /* and the overflow flag is the real one */ };
/* spills: which registers are in which slot */
enum { SPILLED_RAX = 1, SPILLED_RCX = 2, SPILLED_OPERAND = 4, SPILLED_SECOND = 8 };
/* *next: where the block goes on if it has no branch */
unsigned translate_marks(struct translation *tr, const struct block *block, uint32_t id, struct state_mark *marks,
			 unsigned most, uint64_t *next);
bool target_table(const struct block *block, uint64_t *slot[3]);
uint8_t *emit_thunk(struct code_arena *arena, uint32_t exit_id, const struct block *target, uint8_t *to);
/* Its target may have been translated anew since it was made. */
bool thunk_leads_to(const uint8_t *thunk, const uint8_t *code);
/* add qword gs:[…], 1; or, where flags are alive: a register to its slot, load, lea, store, the register back */
enum { THUNK_BYTES = 10, THUNK_SPILLING_BYTES = 40 };
static inline bool thunk_spills(const uint8_t *thunk) { return thunk[2] != 0x83; }
/* an exit's way to the runtime, in the cold part */
uint8_t *emit_stub(struct code_arena *arena, uint32_t exit);
uint8_t *emit_indirect_entry(struct code_arena *arena, uint32_t id);

/* translate/unknown.c, under rt.lock. processor_try() runs what is at `at` with all registers zero, until it
 * faults;
   runtime_signal() fills the trial and comes back. processor_refuses: the bytes are not an instruction of this
   processor's; else the program ends with a message. */
struct processor_trial {
	struct thread *thread;
	uint64_t rip, cr2, trapno;
};
struct processor_trial *processor_trial(void);
void processor_try(const void *at);
void processor_tried(void);
bool processor_refuses(const uint8_t *bytes, unsigned available, const char *why, uint64_t pc);

#pragma GCC visibility pop
#endif

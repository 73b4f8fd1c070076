/* Writing x86-64 code: the few instructions that the runtime adds to the program's. In a probe (translate_marks)
   the bytes go to a scratch buffer while every decision is made for the address that the code has. */
#ifndef TARE_ENGINE_RUNTIME_TRANSLATE_EMIT_H
#define TARE_ENGINE_RUNTIME_TRANSLATE_EMIT_H

#include "engine/runtime/cache/cache.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/x86/encode.h"

/* Where in struct thread. */
#define AT(member) ((uint32_t) __builtin_offsetof(struct thread, member))
enum {
	AT_SPILL_RAX = AT(spill_rax),
	AT_SPILL_RCX = AT(spill_rcx),
	AT_SPILL_OPERAND = AT(spill_operand),
	AT_SPILL_SECOND = AT(spill_second),
	AT_TARGET = AT(target),
	AT_EXIT_ID = AT(exit_id),
	AT_RUNTIME_RSP = AT(runtime_rsp),
	AT_EXIT_ENTRY = AT(exit_entry),
	AT_MISS_ENTRY = AT(miss_entry),
	AT_REG_RSP = AT(reg[X86_RSP]),
	AT_APP_GS = AT(app_gs),
	AT_TRACE = AT(trace),
	AT_QUIET = AT(quiet),
	AT_SPILL_TRACE = AT(spill_trace),
	AT_SPILL_TRACE2 = AT(spill_trace2),
	AT_LAST_INDIRECT = AT(last_indirect),
	AT_REGION_MISS = AT(region_miss),
	AT_REGION_TAIL = AT(region_tail),
	AT_LAST_LINKAGE = AT(last_linkage),
	AT_INLINE_ENTRY = AT(inline_entry),
	AT_STACK_LEFT = AT(stack_left),
	AT_SPILL_THIRD = AT(spill_third),
	AT_SPILL_FLAGS = AT(spill_flags),
	AT_APART = AT(apart),
	AT_BEHIND = AT(behind),
};
#undef AT

struct translation;

struct emit {
	struct translation *tr; /* of the block; NULL: the code is not a block's */
	uint8_t *p;
	int64_t delta;            /* address = p + delta */
	struct state_mark *marks; /* NULL: none wanted */
	unsigned mark_count, mark_most;
	uint8_t *start;
	bool probe, counted;
	uint8_t stream_spills, stream_regs, stream_groups, stream_third, recency; /* see struct state_mark */
	uint32_t id;
	struct code_arena *arena;
};

static inline uint64_t emit_address(const struct emit *e) { return (uint64_t)(e->p + e->delta); }
static inline void put(struct emit *e, uint8_t b) { *e->p++ = b; }
static inline void put_bytes(struct emit *e, const void *from, size_t n)
{
	const uint8_t *q = from;
	while (n--)
		*e->p++ = *q++;
}

static inline void gs_store(struct emit *e, unsigned reg, uint32_t offset) { encode_store_gs(&e->p, reg, offset); }
static inline void gs_load(struct emit *e, unsigned reg, uint32_t offset) { encode_load_gs(&e->p, reg, offset); }
static inline void move_immediate(struct emit *e, unsigned reg, uint64_t v) { encode_move_value(&e->p, reg, v); }
static inline void jump_gs(struct emit *e, uint32_t offset) { encode_jump_gs(&e->p, offset); }
static inline void jump_to(struct emit *e, const uint8_t *target)
{
	encode_jump(&e->p, (uint32_t)((uint64_t)target - (emit_address(e) + 5)));
}
/* r = r + 1 without a flag; r is any register but rsp, r12 */
static inline void lea_one(struct emit *e, unsigned reg) { encode_lea(&e->p, reg, reg, 1); }
static inline void nops(struct emit *e, unsigned n) /* at most 3 bytes */
{
	if (n)
		encode_nop(&e->p, n);
}

static inline void mark(struct emit *e, enum mark_kind kind, unsigned insn, unsigned spills, unsigned reg, int rsp)
{
	if (e->marks && e->mark_count < e->mark_most)
		e->marks[e->mark_count++] = (struct state_mark){(uint32_t)(e->p - e->start),
								(uint8_t)kind,
								(uint8_t)spills,
								(uint8_t)reg,
								e->counted,
								(uint16_t)insn,
								(int16_t)rsp,
								e->stream_spills,
								e->stream_regs,
								e->stream_groups,
								e->stream_third,
								e->recency,
								0};
}

#endif

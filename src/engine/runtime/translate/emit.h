/* Writing x86-64 code: the few instructions that the runtime adds to the program's. In a probe (translate_marks)
   the bytes go to a scratch buffer while every decision is made for the address that the code has. */
#ifndef TARE_ENGINE_RUNTIME_TRANSLATE_EMIT_H
#define TARE_ENGINE_RUNTIME_TRANSLATE_EMIT_H

#include "engine/runtime/runtime.h"
#include "engine/x86/encode.h"

enum {
	AT_SPILL_RAX = 0x08,
	AT_SPILL_RCX = 0x10,
	AT_SPILL_OPERAND = 0x20,
	AT_SPILL_SECOND = 0x28,
	AT_LAST_INDIRECT = 0x118,
	AT_EXIT_ID = 0x38,
	AT_EXIT_ENTRY = 0x48,
	AT_MISS_ENTRY = 0x50,
	AT_APP_GS = 0xf0,
	AT_TRACE = 0x100,
	AT_SPILL_TRACE = 0x108,
	AT_SPILL_TRACE2 = 0x110,
	AT_TARGET = 0x30,
	AT_REGION_MISS = 0x120,
	AT_LAST_LINKAGE = 0x158,
	AT_RUNTIME_RSP = 0x40,
	AT_REG_RSP = 0x78,
	AT_SPILL_THIRD = 0x178,
	AT_SPILL_FLAGS = 0x180,
	AT_STACK_LEFT = 0x168,
	AT_APART = 0x188,
	AT_BEHIND = 0x190
};

struct emit {
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
static inline void put32(struct emit *e, uint32_t v)
{
	__builtin_memcpy(e->p, &v, 4);
	e->p += 4;
}
static inline void put64(struct emit *e, uint64_t v)
{
	__builtin_memcpy(e->p, &v, 8);
	e->p += 8;
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

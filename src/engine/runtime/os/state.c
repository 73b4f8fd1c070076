/*
 * What an instruction has done whose bytes, or operations, depend on the processor's state and not on its encoding
 * alone: xsave and its kin, loads and stores of tiles, products of tiles (x86/xstate.h). Its block ends with it,
 * and the way out leads here.
 *
 * What always holds:
 *  1. It is looked at behind the instruction, which was executed whole: a fault counts nothing. None of them
 *     changes what is asked here.
 *  2. "In use" is as the processor says, but for components that the engine, or the kernel on its way back from a
 *     signal of the engine's, may have marked: those are in use if they hold anything. So counts are the same with
 *     models and without, inline or not. The header that was stored is also made to say so: it is what the next
 *     xrstor goes by.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"

/* x87 and SSE by sigreturn, masks and the upper 16 registers by model/core/fast/saved_vectors.h */
#define MARKED                                                                                                    \
	(X86_STATE_BIT(X86_STATE_X87) | X86_STATE_BIT(X86_STATE_SSE) | X86_STATE_BIT(X86_STATE_OPMASK) |          \
	 X86_STATE_BIT(X86_STATE_HIGH_ZMM))

static uint8_t *area; /* under rt.lock */

static bool all_zero(const uint8_t *at, uint32_t n)
{
	uint64_t word;
	for (; n >= 8; at += 8, n -= 8) {
		memcpy(&word, at, 8);
		if (word)
			return false;
	}
	return true;
}

/* As area has it, by an xsave. */
static bool holds_anything(unsigned component)
{
	static const uint8_t x87_begins[8] = {0x7f, 0x03};
	if (component == X86_STATE_X87)
		return memcmp(area, x87_begins, 8) || !all_zero(area + 8, 16) || !all_zero(area + 32, 128);
	if (component == X86_STATE_SSE)
		return !all_zero(area + 160, 256);
	return !all_zero(area + rt.xstate.offset[component], rt.xstate.bytes[component]);
}

static uint64_t in_use(uint32_t *mxcsr)
{
	uint64_t used = fp_in_use();
	if (!area)
		area = fp_area_new();
	fp_save(area, rt.fp_features);
	memcpy(mxcsr, area + 24, 4);
	for (unsigned i = 0; i < 64; i++)
		if (used & MARKED & 1ull << i && !holds_anything(i))
			used &= ~(1ull << i);
	return used;
}

static void make_header(uint64_t at, uint64_t asked, uint64_t used)
{
	uint64_t present;
	if (!safe_copy(&present, (const void *)at, 8) || !(present & asked & MARKED & ~used))
		return;
	present &= ~(asked & MARKED & ~used);
	safe_copy((void *)at, &present, 8);
}

/* Returns the bytes that were stored, or of an xrstor read. */
static uint64_t moved(struct thread *t, uint32_t id, uint64_t at, const struct x86_span *spans, unsigned n)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < n; i++)
		bytes += spans[i].write == spans[n - 1].write ? spans[i].bytes : 0;
	unsigned reads = 0;
	while (reads < n && !spans[reads].write)
		reads++;
	stream_spans(t, id, at, spans, reads);
	stream_spans(t, id, at, spans + reads, n - reads);
	return bytes;
}

static uint64_t saved_or_restored(struct thread *t, uint32_t id, const struct x86_insn *in, uint64_t pc)
{
	struct x86_span spans[X86_SPANS];
	enum x86_state_kind kind = x86_state_kind(in);
	uint64_t at = address_of_operand(t, in, pc, t->reg[X86_RSP]), header[8] = {0}, used = ~0ull;
	uint64_t asked = (t->reg[X86_RDX] << 32 | (uint32_t)t->reg[X86_RAX]) & rt.xstate.enabled;
	uint32_t mxcsr = X86_MXCSR_INITIAL;
	if (kind == X86_XRSTOR)
		safe_copy(header, (const void *)(at + X86_XSTATE_HEADER), sizeof header);
	else
		used = in_use(&mxcsr);
	unsigned n = x86_xsave_spans(&rt.xstate, kind, asked, used, mxcsr, header, spans);
	if (kind != X86_XRSTOR) {
		/* a compacted area has no MXCSR without SSE */
		uint64_t named = kind == X86_XSAVEC && mxcsr != X86_MXCSR_INITIAL
					 ? used | X86_STATE_BIT(X86_STATE_SSE)
					 : used;
		make_header(at + X86_XSTATE_HEADER, asked, named);
		if (asked & X86_STATE_BIT(X86_STATE_X87) &&
		    (kind == X86_XSAVE || used & X86_STATE_BIT(X86_STATE_X87)))
			recover_x87_word(at + 8, in->rex & 8);
	}
	return moved(t, id, at, spans, n);
}

/* Does it for the program, for the components in edx:eax. False: the processor refuses what is there. */
bool state_served(struct thread *t, const struct x86_insn *in, uint64_t at)
{
	uint64_t asked = t->reg[X86_RDX] << 32 | (uint32_t)t->reg[X86_RAX];
	bool wide = in->rex & 8;
	switch (x86_state_kind(in)) {
	case X86_XSAVE: return fp_served((void *)at, asked, wide ? FP_XSAVE64 : FP_XSAVE);
	case X86_XSAVEOPT: return fp_served((void *)at, asked, wide ? FP_XSAVEOPT64 : FP_XSAVEOPT);
	case X86_XSAVEC: return fp_served((void *)at, asked, wide ? FP_XSAVEC64 : FP_XSAVEC);
	case X86_XRSTOR: return fp_served((void *)at, asked, wide ? FP_XRSTOR64 : FP_XRSTOR);
	default: return false;
	}
}

static struct x86_tiles tiles_now(void)
{
	struct x86_tiles tiles;
	__asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x49, 0x07" : "=m"(tiles) : "D"(&tiles)); /* sttilecfg [rdi] */
	return tiles;
}

static uint64_t tile_moved(struct thread *t, uint32_t id, const struct x86_insn *in, uint64_t pc)
{
	struct x86_span spans[X86_SPANS];
	struct x86_tiles tiles = tiles_now();
	struct x86_insn first = *in; /* row: the index register is the distance of rows */
	const struct x86_memory *m = &in->memory[0];
	uint64_t stride = m->index == X86_NO_REG ? 0 : t->reg[m->index] * m->scale;
	first.memory[0].index = X86_NO_REG;
	unsigned n = x86_tile_spans(&tiles, in->reg & 7, stride, m->flags & X86_MEM_WRITE, spans);
	return n ? moved(t, id, address_of_operand(t, &first, pc, t->reg[X86_RSP]), spans, n) : 0;
}

void state_moved(struct thread *t, uint32_t id)
{
	struct x86_insn in = {0};
	struct x86_tiles tiles;
	uint64_t *amount = counter_of(t, id * 2 + 1);
	lock();
	uint64_t pc = last_instruction(&rt.blocks[id], &in);
	switch (x86_state_kind(&in)) {
	case X86_TILE_PRODUCT:
		tiles = tiles_now();
		*amount += x86_tile_operations(&tiles, &in);
		break;
	case X86_TILE_LOAD:
	case X86_TILE_STORE: *amount += tile_moved(t, id, &in, pc); break;
	default: *amount += saved_or_restored(t, id, &in, pc); break;
	}
	unlock();
}

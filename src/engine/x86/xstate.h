/*
 * Processor state in memory: the areas of xsave and its kin, and AMX tiles. Which bytes an instruction accesses
 * depends on registers and on what CPUID says, not on its encoding: pure functions of those.
 *
 *     CPUID leaf 0xD, XCR0 ──x86_xstate_describe()──► where each component lies, in an area of the standard form and in a compacted one
 *
 * What always holds (Intel SDM, volume 1, 13.7 to 13.12; measured on a Zen 4 by filling areas with a pattern):
 *  1. Only components of edx:eax & XCR0 ("asked") are accessed. xsave writes them all; xsaveopt and xsavec those
 *     of them that are not in their initial state ("in use"); xrstor reads those that the area's header names.
 *  2. The legacy region's bytes 416 … 511 are nobody's. MXCSR goes with SSE, and in the standard form also with
 *     AVX.
 *  3. xsave and xsaveopt read the header's first word and write it; xsavec writes two words; xrstor reads three of
 *     them, and of a compacted area the whole header.
 *  4. xsaveopt may also leave out what was not changed since the last xrstor from the same area. Interrupts also
 *     decide that: it is not known here, and what is in use counts as written.
 */
#ifndef TARE_ENGINE_X86_XSTATE_H
#define TARE_ENGINE_X86_XSTATE_H

#include "engine/x86/decode.h"

enum x86_component {
	X86_STATE_X87,
	X86_STATE_SSE,
	X86_STATE_AVX,
	X86_STATE_OPMASK = 5,
	X86_STATE_ZMM_HIGH,
	X86_STATE_HIGH_ZMM,
	X86_STATE_PKRU = 9,
	X86_STATE_TILE_CONFIG = 17,
	X86_STATE_TILES,
	X86_STATE_COMPONENTS = 63
};
#define X86_STATE_BIT(component) (1ull << (component))
#define X86_LEGACY_BYTES 416u  /* of the legacy region, accessed */
#define X86_XSTATE_HEADER 512u /* where it lies */
#define X86_HEADER_READ 8u     /* of it by xsave and xsaveopt */
#define X86_XSTATE_LEAST 576u  /* legacy region and header */
#define X86_MXCSR_INITIAL 0x1f80u

struct x86_xstate {
	uint64_t enabled; /* XCR0 */
	/* components that begin at a multiple of 64 in a compacted area */
	uint64_t aligned;
	uint32_t offset[X86_STATE_COMPONENTS]; /* from 2 on, in the standard form */
	uint32_t bytes[X86_STATE_COMPONENTS];
	bool knows_in_use; /* xgetbv with ecx = 1 */
};

typedef void x86_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4]); /* eax ebx ecx edx */

void x86_xstate_describe(struct x86_xstate *x, uint64_t xcr0, x86_cpuid *ask);
/* Of an area of the standard form that holds these components. */
uint32_t x86_xstate_bytes(const struct x86_xstate *x, uint64_t components);
/* Where a component lies in a compacted area of these components; its XCOMP_BV says which. */
uint32_t x86_xstate_compacted(const struct x86_xstate *x, uint64_t components, unsigned component);

/* ---- what an instruction accesses ---- */

enum x86_state_kind {
	X86_STATE_NONE,
	X86_XSAVE,
	X86_XSAVEOPT,
	X86_XSAVEC,
	X86_XRSTOR,
	X86_TILE_LOAD,
	X86_TILE_STORE,
	X86_TILE_PRODUCT
};
/* Of those whose bytes, or operations, the encoding does not say. (fxsave and fxrstor have a fixed area; xsaves
 * and xrstors fault.) */
enum x86_state_kind x86_state_kind(const struct x86_insn *in);

/* What is accessed of an operand whose size is fixed: of fxsave's area, as of xsave's, not the last 96 bytes. */
static inline uint32_t x86_operand_bytes(const struct x86_insn *in, const struct x86_memory *m)
{
	return in->special == X86_SPECIAL_XSAVE && m->width == 512 ? X86_LEGACY_BYTES : m->width;
}

/* at: of an area from its beginning, of a tile from its first row */
struct x86_span {
	uint64_t at;
	uint32_t bytes;
	bool write;
};
#define X86_SPANS 68u

/* asked: edx:eax & XCR0. in_use: of the processor's components. header: of the area, for xrstor. Returns how many
   spans, in ascending order but for the header's read, which comes first. */
unsigned x86_xsave_spans(const struct x86_xstate *x, enum x86_state_kind kind, uint64_t asked, uint64_t in_use,
			 uint32_t mxcsr, const uint64_t header[8], struct x86_span spans[X86_SPANS]);

/* ---- AMX (Intel SDM, volume 1, 18) ---- */

#define X86_TILES 8u
struct x86_tiles { /* what ldtilecfg loads and sttilecfg stores: 64 bytes */
	uint8_t palette, start_row, reserved[14];
	uint16_t bytes[16]; /* of a row */
	uint8_t rows[16];
};

/* Rows of a load or store of a tile. stride: of the index register, scaled. */
unsigned x86_tile_spans(const struct x86_tiles *tiles, unsigned tile, uint64_t stride, bool write,
			struct x86_span spans[X86_SPANS]);
/* FP operations of a product (multiplications and additions), 0 for one of integers. */
uint64_t x86_tile_operations(const struct x86_tiles *tiles, const struct x86_insn *in);

#endif

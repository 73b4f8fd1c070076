#include "engine/x86/xstate.h"

enum {
	LEAF_XSTATE = 13,
	LEGACY_X87_END = 24,
	LEGACY_MXCSR = 24,
	LEGACY_STACK = 32,
	LEGACY_XMM = 160,
	LEGACY_END = X86_LEGACY_BYTES,
	TILE_ROWS_MOST = 16
};
#define COMPACTED (1ull << 63)

static bool has(uint64_t components, unsigned component) { return components >> component & 1; }

void x86_xstate_describe(struct x86_xstate *x, uint64_t xcr0, x86_cpuid *ask)
{
	uint32_t r[4];
	x->enabled = xcr0;
	x->aligned = 0;
	ask(LEAF_XSTATE, 1, r);
	x->knows_in_use = r[0] >> 2 & 1;
	for (unsigned i = 0; i < X86_STATE_COMPONENTS; i++) {
		x->offset[i] = x->bytes[i] = 0;
		if (i < 2 || !has(xcr0, i))
			continue;
		ask(LEAF_XSTATE, i, r);
		x->bytes[i] = r[0];
		x->offset[i] = r[1];
		x->aligned |= (uint64_t)(r[2] >> 1 & 1) << i;
	}
}

uint32_t x86_xstate_bytes(const struct x86_xstate *x, uint64_t components)
{
	uint32_t end = X86_XSTATE_LEAST;
	for (unsigned i = 2; i < X86_STATE_COMPONENTS; i++)
		if (has(components & x->enabled, i) && x->offset[i] + x->bytes[i] > end)
			end = x->offset[i] + x->bytes[i];
	return end;
}

uint32_t x86_xstate_compacted(const struct x86_xstate *x, uint64_t components, unsigned component)
{
	uint32_t at = X86_XSTATE_LEAST;
	for (unsigned i = 2; i < X86_STATE_COMPONENTS; i++) {
		if (!has(components & x->enabled, i))
			continue;
		if (has(x->aligned, i))
			at = (at + 63) & ~63u;
		if (i == component)
			return at;
		at += x->bytes[i];
	}
	return at;
}

enum x86_state_kind x86_state_kind(const struct x86_insn *in)
{
	if (in->class & X86_CLASS_AMX) {
		if (in->memory_count && (in->memory[0].flags & (X86_MEM_READ | X86_MEM_WRITE)) &&
		    !in->memory[0].width)
			return in->memory[0].flags & X86_MEM_WRITE ? X86_TILE_STORE : X86_TILE_LOAD;
		return in->class & X86_CLASS_FP ? X86_TILE_PRODUCT : X86_STATE_NONE;
	}
	if (in->special != X86_SPECIAL_XSAVE || in->encoding != X86_LEGACY || !in->memory_count)
		return X86_STATE_NONE;
	unsigned extension = in->modrm >> 3 & 7;
	if (in->opcode == 0xc7)
		return extension == 4 ? X86_XSAVEC : X86_STATE_NONE;
	return extension == 4   ? X86_XSAVE
	       : extension == 5 ? X86_XRSTOR
	       : extension == 6 ? X86_XSAVEOPT
				: X86_STATE_NONE;
}

struct list {
	struct x86_span *spans;
	unsigned n;
};

static void put(struct list *list, uint64_t at, uint32_t bytes, bool write)
{
	struct x86_span *last = list->n ? &list->spans[list->n - 1] : 0;
	if (last && last->write == write && last->at + last->bytes == at)
		last->bytes += bytes;
	else
		list->spans[list->n++] = (struct x86_span){at, bytes, write};
}

static void put_legacy(struct list *list, bool x87, bool mxcsr, bool sse, bool write)
{
	if (x87)
		put(list, 0, LEGACY_X87_END, write);
	if (mxcsr)
		put(list, LEGACY_MXCSR, write ? 8 : 4, write); /* its mask is stored, too, and not loaded */
	if (x87)
		put(list, LEGACY_STACK, LEGACY_XMM - LEGACY_STACK, write);
	if (sse)
		put(list, LEGACY_XMM, LEGACY_END - LEGACY_XMM, write);
}

static void put_components(struct list *list, const struct x86_xstate *x, uint64_t components, uint64_t layout,
			   bool write)
{
	for (unsigned i = 2; i < X86_STATE_COMPONENTS; i++)
		if (has(components, i) && x->bytes[i])
			put(list, layout & COMPACTED ? x86_xstate_compacted(x, layout, i) : x->offset[i],
			    x->bytes[i], write);
}

static void restored(struct list *list, const struct x86_xstate *x, uint64_t asked, const uint64_t header[8])
{
	const uint64_t avx_or_sse = X86_STATE_BIT(X86_STATE_SSE) | X86_STATE_BIT(X86_STATE_AVX);
	uint64_t present = header[0] & asked, layout = header[1];
	bool compacted = layout & COMPACTED;
	put(list, X86_XSTATE_HEADER, compacted ? 64 : 24, false);
	put_legacy(list, has(present, X86_STATE_X87),
		   compacted ? has(present, X86_STATE_SSE) : (asked & avx_or_sse) != 0,
		   has(present, X86_STATE_SSE), false);
	put_components(list, x, present, layout, false);
}

unsigned x86_xsave_spans(const struct x86_xstate *x, enum x86_state_kind kind, uint64_t asked, uint64_t in_use,
			 uint32_t mxcsr, const uint64_t header[8], struct x86_span spans[X86_SPANS])
{
	const uint64_t sse = X86_STATE_BIT(X86_STATE_SSE), avx = X86_STATE_BIT(X86_STATE_AVX);
	struct list list = {spans, 0};
	bool compacts = kind == X86_XSAVEC;
	asked &= x->enabled;
	if (kind == X86_XRSTOR) {
		restored(&list, x, asked, header);
		return list.n;
	}
	uint64_t saved = kind == X86_XSAVE ? asked : asked & in_use;
	if (compacts && asked & sse && mxcsr != X86_MXCSR_INITIAL)
		saved |= sse;
	if (!compacts)
		put(&list, X86_XSTATE_HEADER, X86_HEADER_READ, false);
	put_legacy(&list, has(saved, X86_STATE_X87),
		   compacts ? has(saved, X86_STATE_SSE) : (asked & (sse | avx)) != 0, has(saved, X86_STATE_SSE),
		   true);
	put(&list, X86_XSTATE_HEADER, compacts ? 16 : 8, true);
	put_components(&list, x, saved, compacts ? asked | COMPACTED : 0, true);
	return list.n;
}

unsigned x86_tile_spans(const struct x86_tiles *tiles, unsigned tile, uint64_t stride, bool write,
			struct x86_span spans[X86_SPANS])
{
	unsigned n = 0;
	if (tile >= X86_TILES || !tiles->palette)
		return 0;
	for (unsigned row = tiles->start_row; row < tiles->rows[tile] && row < TILE_ROWS_MOST; row++)
		spans[n++] = (struct x86_span){row * stride, tiles->bytes[tile], write};
	return n;
}

/* Products of elements in 32 bits of a row of the first source with 32 bits of a column of the second; each
 * product is added. */
static unsigned pairs_of(const struct x86_insn *in)
{
	/* TF32: one; of 16 bits two, and so for complex ones (four products for two results) */
	return in->fp_precision == X86_FP_SINGLE ? 1 : 2;
}

uint64_t x86_tile_operations(const struct x86_tiles *tiles, const struct x86_insn *in)
{
	unsigned to = in->reg & 7, first = in->rm & 7;
	if (!(in->class & X86_CLASS_FP) || in->rm == X86_NO_REG || !tiles->palette)
		return 0;
	return (uint64_t)tiles->rows[to] * (tiles->bytes[to] / 4u) * (tiles->bytes[first] / 4u) * pairs_of(in) * 2;
}

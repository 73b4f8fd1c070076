/*
 * Areas of processor state and tiles (engine/x86/xstate.h), for processors that are not here: CPUID's answers, headers and tile configurations
 * made by hand. Offsets and sizes are those of Sapphire Rapids, Haswell, Skylake and of Intel's APX specification. Last, what this processor
 * writes, byte by byte, where it has xsave.
 */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "engine/x86/xstate.h"
#include "tap.h"

/* ---- processors ---- */

struct answer {
	uint32_t bytes, offset, flags;
}; /* flags: 2 begins at a multiple of 64 when compacted; 4 XFD */
static struct answer answers[64];
static uint32_t features_1;

static void ask(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	memset(out, 0, 16);
	if (leaf != 13)
		return;
	if (sub == 1)
		out[0] = features_1;
	if (sub > 1 && sub < 64)
		out[0] = answers[sub].bytes, out[1] = answers[sub].offset, out[2] = answers[sub].flags;
}

#define AVX 0x7ull
#define AVX512 0xe7ull
#define SAPPHIRE 0x602e7ull /* x87 SSE AVX AVX-512 PKRU, tile configuration and tiles */

static struct x86_xstate processor(uint64_t xcr0)
{
	struct x86_xstate x;
	memset(answers, 0, sizeof answers);
	answers[2] = (struct answer){256, 576, 0};
	answers[3] = (struct answer){64, 960, 0}; /* MPX, which nobody enables: not to be asked for */
	answers[5] = (struct answer){64, 1088, 0};
	answers[6] = (struct answer){512, 1152, 0};
	answers[7] = (struct answer){1024, 1664, 0};
	answers[9] = (struct answer){8, 2688, 0};
	answers[11] = (struct answer){16, 0, 1}; /* supervisor */
	answers[17] = (struct answer){64, 2752, 2};
	answers[18] = (struct answer){8192, 2816, 6};
	answers[19] = (struct answer){128, 960, 0}; /* APX, where MPX was */
	features_1 = 0x1f;
	x86_xstate_describe(&x, xcr0, ask);
	return x;
}

static void sizes(void)
{
	struct x86_xstate x = processor(SAPPHIRE);
	equal_u64(x86_xstate_bytes(&x, SAPPHIRE), 11008,
		  "with tiles an area of the standard form has 11,008 bytes");
	equal_u64(x86_xstate_bytes(&x, SAPPHIRE & ~(1ull << 18)), 2816,
		  "without them, as before a program has used one, 2,816");
	equal_u64(x86_xstate_bytes(&x, 0xee), 2688, "what a lazily bound call asks for ends in front of PKRU");
	equal_u64(x86_xstate_bytes(&x, 3), 576, "x87 and SSE are in front of all");
	equal_u64(x86_xstate_bytes(&x, ~0ull), 11008, "components that the system does not enable have no bytes");
	equal_u64(x86_xstate_compacted(&x, SAPPHIRE, 2), 576, "compacted: AVX is the first");
	equal_u64(x86_xstate_compacted(&x, SAPPHIRE, 9), 576 + 256 + 64 + 512 + 1024,
		  "compacted: PKRU comes right behind AVX-512");
	equal_u64(x86_xstate_compacted(&x, SAPPHIRE, 17), 2496,
		  "compacted: the tile configuration begins at a multiple of 64 behind PKRU's 8 bytes");
	equal_u64(x86_xstate_compacted(&x, SAPPHIRE, 18), 2560, "compacted: tiles come behind it");
	equal_u64(x86_xstate_compacted(&x, 0xa0, 7), 640, "compacted: what was not asked for leaves no room");
	ok(x.knows_in_use && x.bytes[3] == 0 && x.bytes[11] == 0,
	   "MPX and supervisor components are not the program's");
	x = processor(AVX512 | 1ull << 19);
	equal_u64(x86_xstate_bytes(&x, AVX512 | 1ull << 19), 2688,
		  "APX lies in front of AVX-512: the area does not grow");
	equal_u64(x86_xstate_compacted(&x, AVX512 | 1ull << 19, 19), 2432, "compacted: it comes behind AVX-512");
	x = processor(0);
	equal_u64(x86_xstate_bytes(&x, 0), 576,
		  "no xsave: nothing but the legacy area and what would be the header");
}

/* ---- which instruction ---- */

static enum x86_state_kind kind_of(const char *code, size_t n)
{
	struct x86_insn in;
	return x86_decode((const uint8_t *)code, n, &in) == X86_DECODE_OK ? x86_state_kind(&in)
									  : (enum x86_state_kind)99;
}
#define KIND(code) kind_of(code, sizeof code - 1)

static void kinds(void)
{
	ok(KIND("\x0f\xae\x27") == X86_XSAVE && KIND("\x48\x0f\xae\x27") == X86_XSAVE, "xsave, xsave64");
	ok(KIND("\x0f\xae\x37") == X86_XSAVEOPT && KIND("\x0f\xc7\x27") == X86_XSAVEC &&
		   KIND("\x0f\xae\x2f") == X86_XRSTOR,
	   "xsaveopt, xsavec, xrstor");
	ok(KIND("\x0f\xae\x07") == X86_STATE_NONE && KIND("\x0f\xae\x0f") == X86_STATE_NONE,
	   "fxsave and fxrstor have an area of their own");
	ok(KIND("\x0f\xc7\x2f") == X86_STATE_NONE && KIND("\x0f\xc7\x1f") == X86_STATE_NONE,
	   "xsaves and xrstors fault: they access nothing");
	ok(KIND("\x0f\xae\x1f") == X86_STATE_NONE && KIND("\x0f\xae\x3f") == X86_STATE_NONE,
	   "stmxcsr and clflush are none");
	ok(KIND("\xc4\xe2\x7b\x4b\x04\x37") == X86_TILE_LOAD && KIND("\xc4\xe2\x79\x4b\x04\x37") == X86_TILE_LOAD,
	   "tileloadd, tileloaddt1");
	ok(KIND("\xc4\xe2\x7a\x4b\x04\x37") == X86_TILE_STORE && KIND("\xc4\xe2\x6a\x5c\xc1") == X86_TILE_PRODUCT,
	   "tilestored, tdpbf16ps");
	ok(KIND("\xc4\xe2\x6b\x5e\xc1") == X86_STATE_NONE, "tdpbssd has no floating-point operation");
	ok(KIND("\xc4\xe2\x78\x49\x07") == X86_STATE_NONE && KIND("\xc4\xe2\x79\x49\x07") == X86_STATE_NONE,
	   "a tile configuration has always 64 bytes");
}

/* ---- which bytes ---- */

static struct x86_span spans[X86_SPANS];
static unsigned n_spans;

static void save(const struct x86_xstate *x, enum x86_state_kind kind, uint64_t asked, uint64_t in_use,
		 uint32_t mxcsr)
{
	n_spans = x86_xsave_spans(x, kind, asked, in_use, mxcsr, NULL, spans);
}

static void restore(const struct x86_xstate *x, uint64_t asked, uint64_t present, uint64_t layout)
{
	const uint64_t header[8] = {present, layout};
	n_spans = x86_xsave_spans(x, X86_XRSTOR, asked, ~0ull, 0, header, spans);
}

static uint64_t bytes_of(bool write)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < n_spans; i++)
		bytes += spans[i].write == write ? spans[i].bytes : 0;
	return bytes;
}

static bool has_span(uint64_t at, uint32_t bytes, bool write)
{
	for (unsigned i = 0; i < n_spans; i++)
		if (spans[i].at == at && spans[i].bytes == bytes && spans[i].write == write)
			return true;
	return false;
}

static void saves(void)
{
	struct x86_xstate x = processor(SAPPHIRE);
	save(&x, X86_XSAVE, ~0ull, 0, X86_MXCSR_INITIAL);
	ok(bytes_of(true) == 416 + 8 + 256 + 64 + 512 + 1024 + 8 + 64 + 8192 && bytes_of(false) == 8,
	   "xsave of all writes every component, in use or not; and reads the header's word");
	save(&x, X86_XSAVE, 0xee, ~0ull, X86_MXCSR_INITIAL);
	equal_u64(bytes_of(true), 8 + 256 + 8 + 256 + 64 + 512 + 1024,
		  "of 0xee it writes no x87, no PKRU and no tile");
	save(&x, X86_XSAVEC, 0xee, ~0ull, X86_MXCSR_INITIAL);
	ok(bytes_of(true) == 8 + 256 + 16 + 256 + 64 + 512 + 1024 && bytes_of(false) == 0 &&
		   has_span(512, 16, true),
	   "a lazily bound call's xsavec writes two words of the header and reads none");
	ok(has_span(576, 256 + 64 + 512 + 1024, true), "its components lie side by side behind the header");
	save(&x, X86_XSAVEC, 0xee, 1ull << X86_STATE_SSE, X86_MXCSR_INITIAL);
	equal_u64(bytes_of(true), 8 + 256 + 16, "xsavec of which only SSE is in use");
	save(&x, X86_XSAVEC, 0xee, 1ull << X86_STATE_HIGH_ZMM, X86_MXCSR_INITIAL);
	ok(n_spans == 2 && has_span(512, 16, true) && has_span(576 + 256 + 64 + 512, 1024, true),
	   "what is not in use leaves its room in what was asked for");
	save(&x, X86_XSAVEC, 7, 0, X86_MXCSR_INITIAL);
	ok(n_spans == 1 && bytes_of(true) == 16, "xsavec with nothing in use writes its header only");
	save(&x, X86_XSAVEC, 7, 0, 0x1fa0);
	equal_u64(bytes_of(true), 8 + 256 + 16, "an MXCSR of another value makes SSE be in use");
	save(&x, X86_XSAVEC, 4, 4, 0x1fa0);
	equal_u64(bytes_of(true), 16 + 256, "xsavec of AVX without SSE writes no MXCSR");
	save(&x, X86_XSAVEOPT, 4, 0, X86_MXCSR_INITIAL);
	ok(bytes_of(true) == 8 + 8 && bytes_of(false) == 8,
	   "xsaveopt of AVX writes MXCSR though nothing is in use");
	save(&x, X86_XSAVEOPT, 0xe7, 0x83, X86_MXCSR_INITIAL);
	ok(bytes_of(true) == 416 + 8 + 1024 && has_span(1664, 1024, true),
	   "xsaveopt writes what is in use, in the standard form");
	save(&x, X86_XSAVE, 1, 0, X86_MXCSR_INITIAL);
	ok(has_span(0, 24, true) && has_span(32, 128, true) && bytes_of(true) == 160,
	   "x87 alone leaves MXCSR out");
	save(&x, X86_XSAVE, 0, 0, X86_MXCSR_INITIAL);
	ok(bytes_of(true) == 8 && bytes_of(false) == 8, "nothing asked for: the header's word");
	save(&x, X86_XSAVE, 1ull << 18, 0, X86_MXCSR_INITIAL);
	ok(has_span(2816, 8192, true), "tiles are asked for by their own bit");
	x = processor(AVX);
	save(&x, X86_XSAVE, ~0ull, 7, X86_MXCSR_INITIAL);
	equal_u64(bytes_of(true), 416 + 8 + 256, "a processor without AVX-512 has fewer components");
	x = processor(3);
	save(&x, X86_XSAVE, ~0ull, 3, X86_MXCSR_INITIAL);
	equal_u64(bytes_of(true), 416 + 8, "one without AVX has the legacy region and the header");
}

static void restores(void)
{
	struct x86_xstate x = processor(SAPPHIRE);
	restore(&x, ~0ull, SAPPHIRE, 0);
	equal_u64(bytes_of(false), 24 + 24 + 4 + 128 + 256 + 256 + 64 + 512 + 1024 + 8 + 64 + 8192,
		  "xrstor of all reads every component that is there, and no MXCSR mask");
	ok(bytes_of(true) == 0, "xrstor writes nothing");
	restore(&x, ~0ull, 0, 0);
	equal_u64(bytes_of(false), 24 + 4, "with an empty header it reads three of its words, and MXCSR");
	restore(&x, 4, 4, 0);
	equal_u64(bytes_of(false), 24 + 4 + 256, "of AVX it reads MXCSR, too");
	restore(&x, 1, 1, 0);
	equal_u64(bytes_of(false), 24 + 24 + 128, "of x87 it does not");
	restore(&x, 0x20000, 0x60000, 0);
	ok(n_spans == 2 && has_span(2752, 64, false), "tiles that are there and not asked for are not read");
	restore(&x, 0xee, 0xee, 1ull << 63 | 0xee);
	ok(bytes_of(false) == 64 + 4 + 256 + 256 + 64 + 512 + 1024 && has_span(576, 256 + 64 + 512 + 1024, false),
	   "a compacted area is read as it lies, with its whole header");
	restore(&x, 0xee, 4, 1ull << 63 | 0xee);
	equal_u64(bytes_of(false), 64 + 256, "of a compacted one MXCSR is read with SSE only");
	restore(&x, 0xe0, 0x80, 1ull << 63 | 0xa2);
	ok(has_span(640, 1024, false), "its layout is that of its own XCOMP_BV, not of what is asked for");
}

/* ---- tiles ---- */

static struct x86_tiles tiles;

static void shape(unsigned tile, unsigned rows, unsigned bytes)
{
	tiles.rows[tile] = (uint8_t)rows;
	tiles.bytes[tile] = (uint16_t)bytes;
}

static uint64_t operations(const char *code)
{
	struct x86_insn in;
	return x86_decode((const uint8_t *)code, 5, &in) == X86_DECODE_OK ? x86_tile_operations(&tiles, &in)
									  : ~0ull;
}

static void tile_accesses(void)
{
	_Static_assert(sizeof tiles == 64, "as ldtilecfg has it");
	memset(&tiles, 0, sizeof tiles);
	tiles.palette = 1;
	for (unsigned t = 0; t < 8; t++)
		shape(t, 16, 64);
	n_spans = x86_tile_spans(&tiles, 0, 64, false, spans);
	ok(n_spans == 16 && bytes_of(false) == 1024, "a whole tile is 16 rows of 64 bytes");
	n_spans = x86_tile_spans(&tiles, 7, 4096, true, spans);
	ok(n_spans == 16 && has_span(15 * 4096, 64, true), "its rows are as far apart as the index register says");
	n_spans = x86_tile_spans(&tiles, 0, (uint64_t)-128, false, spans);
	ok(has_span((uint64_t)-15 * 128, 64, false), "also downwards");
	shape(3, 5, 12);
	n_spans = x86_tile_spans(&tiles, 3, 64, false, spans);
	ok(n_spans == 5 && bytes_of(false) == 60,
	   "a smaller tile is as many rows and bytes as its configuration says");
	tiles.start_row = 3;
	n_spans = x86_tile_spans(&tiles, 3, 64, false, spans);
	ok(n_spans == 2 && has_span(4 * 64, 12, false),
	   "one that goes on behind a fault begins at the row that it had come to");
	tiles.start_row = 0;
	tiles.palette = 0;
	equal_u64(x86_tile_spans(&tiles, 0, 64, false, spans), 0, "without a configuration there is no tile");
}

static void tile_products(void)
{
	memset(&tiles, 0, sizeof tiles);
	tiles.palette = 1;
	for (unsigned t = 0; t < 8; t++)
		shape(t, 16, 64);
	/* tdpbf16ps tmm0, tmm1, tmm2: 16 × 16 results, 16 pairs of products each, a multiplication and an addition each */
	equal_u64(1000 * operations("\xc4\xe2\x6a\x5c\xc1"), 16384000,
		  "1,000 tdpbf16ps of whole tiles are 16,384,000 operations");
	shape(0, 4, 32), shape(1, 4, 16), shape(2, 4, 32);
	equal_u64(operations("\xc4\xe2\x6a\x5c\xc1"), 4 * 8 * 4 * 2 * 2, "of 4 rows, 8 columns and 4 pairs 512");
	equal_u64(operations("\xc4\xe2\x6b\x5e\xc1"), 0, "products of integers are none");
	tiles.palette = 0;
	equal_u64(operations("\xc4\xe2\x6a\x5c\xc1"), 0, "without a configuration it faults");
}

/* ---- this processor ---- */

#define FILLS 2
static uint8_t area[FILLS][16384] __attribute__((aligned(64)));
static uint8_t initial[1024] __attribute__((aligned(64)));

static void here(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	__cpuid_count(leaf, sub, out[0], out[1], out[2], out[3]);
}

static inline __attribute__((always_inline)) uint64_t xgetbv(uint32_t which)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
	return (uint64_t)high << 32 | low;
}

/* Fills the area but for its header, saves, and says what was in use, as far as the processor tells. No vector instruction between. */
static inline __attribute__((always_inline)) uint64_t save_here(const struct x86_xstate *x,
								enum x86_state_kind kind, uint8_t *to, int fill,
								uint64_t asked)
{
	uint8_t *at = to;
	uint64_t n = sizeof area[0], in_use;
	__asm__ volatile("cld; rep stosb" : "+D"(at), "+c"(n) : "a"(fill) : "memory");
	at = to + 512, n = 64;
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(0) : "memory");
	in_use = x->knows_in_use ? xgetbv(1)
				 : x->enabled; /* xsave does not depend on it, and the others are not tried then */
	if (kind == X86_XSAVE)
		__asm__ volatile("xsave64 (%0)"
				 :
				 : "r"(to), "a"((uint32_t)asked), "d"((uint32_t)(asked >> 32))
				 : "memory");
	else if (kind == X86_XSAVEOPT)
		__asm__ volatile("xsaveopt64 (%0)"
				 :
				 : "r"(to), "a"((uint32_t)asked), "d"((uint32_t)(asked >> 32))
				 : "memory");
	else
		__asm__ volatile("xsavec64 (%0)"
				 :
				 : "r"(to), "a"((uint32_t)asked), "d"((uint32_t)(asked >> 32))
				 : "memory");
	return in_use;
}

/* Bytes that differ from what is predicted; the header's are not looked at. */
static unsigned differs(const struct x86_xstate *x, enum x86_state_kind kind, uint64_t asked, bool vectors)
{
	bool emulated = getenv("TARE_CPU_GUEST"); /* qemu writes 10 of the 16 bytes of an x87 register */
	unsigned wrong = 0;
	uint32_t mxcsr = 0;
	uint64_t in_use;
	for (int fill = 0; fill < FILLS; fill++) {
		__asm__ volatile("xrstor64 (%0)" : : "r"(initial), "a"(-1), "d"(-1) : "memory");
		if (vectors)
			__asm__ volatile("fld1; pcmpeqd %%xmm3, %%xmm3" : : : "memory");
		in_use = save_here(x, kind, area[fill], fill ? 0x5a : 0xcc, asked);
		__asm__ volatile("fninit; stmxcsr %0" : "=m"(mxcsr));
	}
	n_spans = x86_xsave_spans(x, kind, asked, in_use, mxcsr, NULL, spans);
	for (unsigned i = 0; i < sizeof area[0]; i++) {
		bool predicted = false, written = area[0][i] != 0xcc || area[1][i] != 0x5a;
		for (unsigned s = 0; s < n_spans; s++)
			predicted |= spans[s].write && i >= spans[s].at && i < spans[s].at + spans[s].bytes;
		wrong += (emulated ? written && !predicted : predicted != written) && (i < 512 || i >= 576);
	}
	return wrong;
}

static void on_this_processor(void)
{
	static const char *const fact[] = {
		[X86_XSAVE] = "xsave writes here what is asked for, byte by byte",
		[X86_XSAVEOPT] = "xsaveopt writes here what is in use, and no more",
		[X86_XSAVEC] = "xsavec writes here what is in use, compacted, and no more"};
	static const uint64_t masks[] = {0, 1, 2, 3, 4, 5, 6, 7, 0x20, 0xa0, 0xe0, 0xe1, 0xe7, 0xee, 0xfe, ~0ull};
	uint32_t a, b, c, d, out[4];
	struct x86_xstate x;
	__cpuid(1, a, b, c, d);
	if (!(c >> 27 & 1)) {
		skip("the processor, or the system, has no xsave",
		     "what xsave and its kin write on this processor");
		return;
	}
	x86_xstate_describe(&x, xgetbv(0) & ~(1ull << X86_STATE_TILES), here);
	here(13, 0, out);
	ok(x86_xstate_bytes(&x, x.enabled) <= out[1], "the area is no larger than CPUID says");
	initial[24] = 0x80, initial[25] = 0x1f;
	here(13, 1, out);
	for (enum x86_state_kind kind = X86_XSAVE; kind <= X86_XSAVEC; kind++) {
		if ((kind != X86_XSAVE && !(out[0] & 4)) || (kind == X86_XSAVEOPT && !(out[0] & 1)) ||
		    (kind == X86_XSAVEC && !(out[0] & 2))) {
			skip("the processor does not have it, or does not say what is in use", fact[kind]);
			continue;
		}
		unsigned wrong = 0;
		for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++)
			for (int vectors = 0; vectors < 2; vectors++)
				wrong += differs(&x, kind, masks[m] & ~(1ull << X86_STATE_TILES), vectors);
		equal_u64(wrong, 0, fact[kind]);
	}
}

int main(void)
{
	sizes();
	kinds();
	saves();
	restores();
	tile_accesses();
	tile_products();
	on_this_processor();
	return done();
}

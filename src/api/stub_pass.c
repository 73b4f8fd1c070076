/* What a stub does as a rule. Compiled for general registers alone, without sanitizers (src/api/meson.build), and
 * calls nothing outside of this object: see stubs.h. */
#include "api/region_pass.h"
#include "api/stubs.h"

_Atomic(struct tare_region *) stub_regions[TARE_ASM_REGIONS];

#if defined(__x86_64__)

#include <cpuid.h>

enum {
	FLAG_ALWAYS = 1 << 1,
	FLAG_DIRECTION = 1 << 10,
	FLAG_ALIGNMENT = 1 << 18,
	LEAF1_ECX_OSXSAVE = 1 << 27,
	LEAF_EXTENDED_ECX_LAHF = 1 << 0,
	FXSAVE_BYTES = 512,
	XSAVE_HEADER_BYTES = 64,
	ALIGNMENT_BYTES = 64
};

/* Read by asm_x86_64.S. Components that xsave saves, 0 where there is none; flags that popf alone restores: all of
 * them until it is known whether the CPU has sahf. */
extern STUB_HIDDEN uint32_t stub_xsave_low, stub_xsave_high, stub_popf_bits;
uint32_t stub_xsave_low, stub_xsave_high, stub_popf_bits = FLAG_ALWAYS;

/* Tiles: no function of the C library uses them, and they take 8 KiB. */
#define XCR0_AMX ((uint64_t)3 << 17)

static uint64_t xcr0(void)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

/* Intel SDM 1, 13.2 "Enumeration of CPU support": leaf 0xd, one subleaf a component, offset and size in the
 * standard format. */
static size_t state_bytes(void)
{
	static _Atomic size_t known;
	size_t bytes = atomic_load_explicit(&known, memory_order_acquire);
	uint32_t a, b, c, d;
	if (bytes)
		return bytes;
	bool has_sahf = __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & LEAF_EXTENDED_ECX_LAHF);
	stub_popf_bits = FLAG_DIRECTION | FLAG_ALIGNMENT | (has_sahf ? 0 : FLAG_ALWAYS);
	bytes = FXSAVE_BYTES;
	if (__get_cpuid(1, &a, &b, &c, &d) && (c & LEAF1_ECX_OSXSAVE)) {
		uint64_t saved = xcr0() & ~XCR0_AMX;
		bytes += XSAVE_HEADER_BYTES;
		for (uint32_t component = 2; component < 63; component++)
			if ((saved >> component & 1) && __get_cpuid_count(0xd, component, &a, &b, &c, &d) &&
			    a + b > bytes)
				bytes = a + b;
		stub_xsave_high = (uint32_t)(saved >> 32);
		stub_xsave_low = (uint32_t)saved;
	}
	bytes = (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
	atomic_store_explicit(&known, bytes, memory_order_release);
	return bytes;
}

#elif defined(__aarch64__)

/* Read by asm_aarch64.S; set by stubs.c. */
uint32_t stub_sve;

/* v0-v31, fpsr, fpcr, and this size */
static size_t state_bytes(void) { return 32 * 16 + 3 * 8 + 8; }

#endif

size_t stub_pass(unsigned id)
{
	struct tare_region *region = id < STUB_INIT
					     ? atomic_load_explicit(&stub_regions[id / 2], memory_order_acquire)
					     : NULL;
	bool done = region && (id % 2 ? region_pass_leave(region) : region_pass_enter(region));
	return done ? 0 : state_bytes();
}

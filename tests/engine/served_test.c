/*
 * The processors that --reproducible shows (engine/x86/served.h), on processors made by hand: Intel's and AMD's places of AVX-512, and
 * ones that lack something.
 */
#include <string.h>

#include "engine/x86/served.h"
#include "tap.h"

enum { EAX, EBX, ECX, EDX };

/* ---- the real processor ---- */

static uint32_t features[3][4]; /* of leaves 1, 7, 0x80000001 */
static uint32_t most = 13, mask_at = 1088;

static void real(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	memset(out, 0, 16);
	if (leaf == 0)
		out[EAX] = most;
	else if (leaf == 0x80000000)
		out[EAX] = 0x80000008;
	else if (leaf == 1)
		memcpy(out, features[0], 16);
	else if (leaf == 7)
		memcpy(out, features[1], 16);
	else if (leaf == 0x80000001)
		memcpy(out, features[2], 16);
	else if (leaf == 13) {
		const uint32_t state[8][2] = {[2] = {256, 576},
					      [5] = {64, mask_at},
					      [6] = {512, mask_at + 64},
					      [7] = {1024, mask_at + 576}};
		if (sub < 8)
			out[EAX] = state[sub][0], out[EBX] = state[sub][1];
	}
}

static void all_features(void)
{
	memset(features, 0xff, sizeof features);
	most = 13, mask_at = 1088;
}

static struct answer {
	uint32_t r[4];
} ask(enum served_cpu cpu, uint32_t leaf, uint32_t sub)
{
	struct answer a;
	x86_served_cpuid(cpu, leaf, sub, real, a.r);
	return a;
}

/* ---- facts ---- */

static void test_levels(void)
{
	all_features();
	equal_u64(ask(SERVED_V2, 1, 0).r[ECX], 0x00982201,
		  "v2: SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT, and no xsave");
	equal_u64(ask(SERVED_V3, 1, 0).r[ECX], 0x3cd83201, "v3 adds FMA, MOVBE, XSAVE, AVX, F16C");
	equal_u64(ask(SERVED_V3, 7, 0).r[EBX], 0x128, "... BMI1, AVX2, BMI2");
	equal_u64(ask(SERVED_V3, 0x80000001, 0).r[ECX], 0x21, "... LZCNT");
	equal_u64(ask(SERVED_V4, 7, 0).r[EBX], 0xd0030128, "v4 adds AVX-512 F, DQ, CD, BW, VL");
	for (enum served_cpu cpu = SERVED_V2; cpu <= SERVED_V4; cpu++)
		equal_u64(ask(cpu, 1, 0).r[EDX], 0x078bfbff, "each has what all x86-64 processors have");
	equal_u64(ask(SERVED_V3, 7, 1).r[EAX] | ask(SERVED_V3, 20, 0).r[EAX] |
			  ask(SERVED_V3, 0x40000000, 0).r[EAX],
		  0, "leaves that are not known, and a hypervisor's, are zeros");
	equal_u64(ask(SERVED_V2, 0, 0).r[EAX], 11, "v2 has no leaf of saved state");
}

static void test_caches(void)
{
	static const uint64_t bytes[] = {32 << 10, 32 << 10, 256 << 10, 8 << 20};
	for (uint32_t sub = 0; sub < 4; sub++) {
		struct answer a = ask(SERVED_V3, 4, sub);
		uint64_t size = ((a.r[EBX] >> 22) + 1) * ((a.r[EBX] & 0xfff) + 1) * (uint64_t)(a.r[ECX] + 1);
		equal_u64(size, bytes[sub], "leaf 4 has the caches: 32 KiB twice, 256 KiB, 8 MiB");
	}
	equal_u64(ask(SERVED_V3, 4, 4).r[EAX] & 31, 0, "... and no fifth");
}

static void test_state(void)
{
	all_features();
	equal_u64(x86_served_xcr0(SERVED_V2), 3, "XCR0 of v2: x87, SSE");
	equal_u64(x86_served_xcr0(SERVED_V3), 7, "of v3: and AVX");
	equal_u64(x86_served_xcr0(SERVED_V4), 0xe7, "of v4: and AVX-512");
	equal_u64(ask(SERVED_V3, 13, 0).r[EBX], 832, "v3's area has 832 bytes");
	equal_u64(ask(SERVED_V3, 13, 1).r[EAX], 0, "... and v3 has no compacted form");
	equal_u64(ask(SERVED_V3, 13, 5).r[EAX], 0, "... and no masks");
	equal_u64(ask(SERVED_V4, 13, 0).r[EBX], 2688, "v4's area on Intel's: 2,688");
	mask_at = 832;
	equal_u64(ask(SERVED_V4, 13, 0).r[EBX], 2432, "on AMD's: 2,432, as xsave writes there");
	equal_u64(ask(SERVED_V4, 13, 5).r[EBX], 832, "... with the masks where they are");
	equal_u64(ask(SERVED_V4, 13, 1).r[EAX], 2, "v4 has xsavec, whose areas are equal on both");
}

static void test_fits(void)
{
	const char *lacks = "";
	all_features();
	ok(x86_served_fits(SERVED_V4, 0xe7, real, &lacks), "a processor with all has v4");
	ok(!x86_served_fits(SERVED_V4, 7, real, &lacks) && strstr(lacks, "registers"),
	   "but not where the system does not enable AVX-512");
	ok(x86_served_fits(SERVED_V3, 7, real, &lacks), "there it has v3");
	ok(!x86_served_fits(SERVED_V3, 0, real, &lacks), "without xsave it has not");
	ok(x86_served_fits(SERVED_V2, 0, real, &lacks), "but v2");
	features[1][EBX] &= ~(1u << 8);
	ok(!x86_served_fits(SERVED_V3, 7, real, &lacks) && !strcmp(lacks, "BMI2"), "what is lacking is named");
	all_features();
	most = 6;
	ok(!x86_served_fits(SERVED_V3, 7, real, &lacks) && !strcmp(lacks, "BMI1"),
	   "a processor without leaf 7 has nothing of it, whatever it answers there");
	ok(x86_served_fits(SERVED_HOST, 0, real, &lacks) && x86_served_fits(SERVED_NONE, 0, real, &lacks),
	   "any processor can be shown as it is");
}

static bool served(const char *bytes, enum served_cpu cpu, bool masks)
{
	struct x86_insn in;
	return x86_decode((const uint8_t *)bytes, 15, &in) == X86_DECODE_OK && x86_is_served(&in, cpu, masks);
}

static bool lacking(const char *bytes, enum served_cpu cpu)
{
	struct x86_insn in;
	return x86_decode((const uint8_t *)bytes, 15, &in) == X86_DECODE_OK && x86_served_lacks(&in, cpu);
}

#define NOPS "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
static void test_instructions(void)
{
	static const struct {
		const char *bytes, *name;
		bool with_level, with_host;
	} cases[] = {
		{"\x0f\xa2" NOPS, "cpuid", true, false},
		{"\x0f\x01\xd0" NOPS, "xgetbv", true, false},
		{"\x0f\x31" NOPS, "rdtsc", true, true},
		{"\x0f\x01\xf9" NOPS, "rdtscp", true, true},
		{"\xf3\x0f\xc7\xf8" NOPS, "rdpid", true, true},
		{"\x0f\xc7\xf1" NOPS, "rdrand ecx", true, true},
		{"\x49\x0f\xc7\xf9" NOPS, "rdseed r9", true, true},
		{"\x66\x0f\xc7\xf1" NOPS, "rdrand cx", true, true},
		{"\x0f\xc7\x0f" NOPS, "cmpxchg8b", false, false},
		{"\x0f\x01\xd1" NOPS, "xsetbv", false, false},
		{"\x0f\xae\x27" NOPS, "xsave, where no more is saved than shown", false, false},
		{"\x90" NOPS, "nop", false, false},
	};
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		ok(served(cases[i].bytes, SERVED_V3, false) == cases[i].with_level, cases[i].name);
		ok(served(cases[i].bytes, SERVED_HOST, false) == cases[i].with_host, cases[i].name);
		ok(!served(cases[i].bytes, SERVED_NONE, false), cases[i].name);
	}
	ok(served("\x0f\xae\x27" NOPS, SERVED_V3, true), "xsave is served where more is saved than shown");
	ok(served("\x0f\xae\x2f" NOPS, SERVED_V3, true), "so is xrstor");
	ok(!served("\x0f\xae\x07" NOPS, SERVED_V3, true), "fxsave is not: its area is the same everywhere");
}

static void test_lacking(void)
{
	const char *evex = "\x62\xf1\x7c\x48\x58\xc1" NOPS, *vex = "\xc5\xfc\x58\xc1" NOPS,
		   *sse = "\x0f\x58\xc1" NOPS;
	ok(lacking(evex, SERVED_V3) && !lacking(evex, SERVED_V4), "vaddps zmm is beyond v3, not beyond v4");
	ok(lacking(vex, SERVED_V2) && !lacking(vex, SERVED_V3), "vaddps ymm is beyond v2, not beyond v3");
	ok(!lacking(sse, SERVED_V2) && !lacking(evex, SERVED_HOST),
	   "addps is beyond none, and nothing is beyond the machine's own");
}

int main(void)
{
	test_levels();
	test_caches();
	test_state();
	test_fits();
	test_instructions();
	test_lacking();
	return done();
}

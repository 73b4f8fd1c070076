#include "engine/x86/served.h"

#define BIT(n) (1u << (n))

enum { EAX, EBX, ECX, EDX };
enum { LEAF_FEATURES = 1, LEAF_MORE = 7, LEAF_STATE = 13, LEAF_EXTENDED = 0x80000001 };

/* ---- features: a bit, and the level that it comes with ---- */

struct feature {
	uint32_t leaf;
	uint8_t reg, bit, since; /* enum served_cpu */
	char name[13];
};

static const struct feature features[] = {
	{LEAF_FEATURES, ECX, 0, SERVED_V2, "SSE3"},
	{LEAF_FEATURES, ECX, 9, SERVED_V2, "SSSE3"},
	{LEAF_FEATURES, ECX, 13, SERVED_V2, "CMPXCHG16B"},
	{LEAF_FEATURES, ECX, 19, SERVED_V2, "SSE4.1"},
	{LEAF_FEATURES, ECX, 20, SERVED_V2, "SSE4.2"},
	{LEAF_FEATURES, ECX, 23, SERVED_V2, "POPCNT"},
	{LEAF_EXTENDED, ECX, 0, SERVED_V2, "LAHF"},
	{LEAF_FEATURES, ECX, 26, SERVED_V3, "XSAVE"},
	{LEAF_FEATURES, ECX, 27, SERVED_V3, "OSXSAVE"},
	{LEAF_FEATURES, ECX, 28, SERVED_V3, "AVX"},
	{LEAF_FEATURES, ECX, 12, SERVED_V3, "FMA"},
	{LEAF_FEATURES, ECX, 22, SERVED_V3, "MOVBE"},
	{LEAF_FEATURES, ECX, 29, SERVED_V3, "F16C"},
	{LEAF_MORE, EBX, 3, SERVED_V3, "BMI1"},
	{LEAF_MORE, EBX, 5, SERVED_V3, "AVX2"},
	{LEAF_MORE, EBX, 8, SERVED_V3, "BMI2"},
	{LEAF_EXTENDED, ECX, 5, SERVED_V3, "LZCNT"},
	{LEAF_MORE, EBX, 16, SERVED_V4, "AVX512F"},
	{LEAF_MORE, EBX, 17, SERVED_V4, "AVX512DQ"},
	{LEAF_MORE, EBX, 28, SERVED_V4, "AVX512CD"},
	{LEAF_MORE, EBX, 30, SERVED_V4, "AVX512BW"},
	{LEAF_MORE, EBX, 31, SERVED_V4, "AVX512VL"},
};
enum { FEATURES = sizeof features / sizeof *features };

static uint32_t features_of(enum served_cpu cpu, uint32_t leaf, unsigned reg)
{
	uint32_t bits = 0;
	for (unsigned i = 0; i < FEATURES; i++)
		if (features[i].leaf == leaf && features[i].reg == reg && features[i].since <= cpu)
			bits |= BIT(features[i].bit);
	return bits;
}

/* What every x86-64 processor has: of leaf 1 edx fpu … pat, pse36, clfsh, mmx, fxsr, sse, sse2; of 0x80000001
 * syscall, nx, lm. */
#define BASELINE 0x078bfbffu
#define BASELINE_EXTENDED (BIT(11) | BIT(20) | BIT(29))

uint64_t x86_served_xcr0(enum served_cpu cpu)
{
	const uint64_t sse = X86_STATE_BIT(X86_STATE_X87) | X86_STATE_BIT(X86_STATE_SSE),
		       avx = sse | X86_STATE_BIT(X86_STATE_AVX),
		       avx512 = avx | X86_STATE_BIT(X86_STATE_OPMASK) | X86_STATE_BIT(X86_STATE_ZMM_HIGH) |
				X86_STATE_BIT(X86_STATE_HIGH_ZMM);
	return cpu >= SERVED_V4 ? avx512 : cpu >= SERVED_V3 ? avx : sse;
}

bool x86_served_fits(enum served_cpu cpu, uint64_t xcr0, x86_cpuid *real, const char **lacks)
{
	for (unsigned i = 0; cpu > SERVED_HOST && i < FEATURES; i++) {
		const struct feature *f = &features[i];
		uint32_t most[4], answer[4];
		real(f->leaf & 0x80000000, 0, most);
		real(f->leaf, 0, answer);
		*lacks = f->name;
		if (f->since <= cpu && (f->leaf > most[EAX] || !(answer[f->reg] >> f->bit & 1)))
			return false;
	}
	*lacks = "the system's support of its vector registers";
	return cpu < SERVED_V3 || !(x86_served_xcr0(cpu) & ~xcr0);
}

/* ---- answers ---- */

/* Type and level, ways, lines of 64 bytes in sets; one thread shares it. */
static void cache(uint32_t type, uint32_t level, uint32_t ways, uint32_t sets, uint32_t out[4])
{
	enum { DETAILS_OF_LAST = 6 }; /* inclusive, indexed by more than address bits */
	out[EAX] = type | level << 5 | BIT(8);
	out[EBX] = (ways - 1) << 22 | 63;
	out[ECX] = sets - 1;
	out[EDX] = level == 3 ? DETAILS_OF_LAST : 0;
}

static void caches(uint32_t sub, uint32_t out[4])
{
	enum { DATA = 1, INSTRUCTIONS, UNIFIED };
	switch (sub) {
	case 0: cache(DATA, 1, 8, 64, out); break;
	case 1: cache(INSTRUCTIONS, 1, 8, 64, out); break;
	case 2: cache(UNIFIED, 2, 8, 512, out); break;
	case 3: cache(UNIFIED, 3, 16, 8192, out); break;
	}
}

static void state(enum served_cpu cpu, uint32_t sub, x86_cpuid *real, uint32_t out[4])
{
	uint64_t shown = x86_served_xcr0(cpu);
	if (sub == 0) {
		struct x86_xstate x;
		x86_xstate_describe(&x, shown, real);
		out[EAX] = (uint32_t)shown, out[EDX] = (uint32_t)(shown >> 32);
		out[EBX] = out[ECX] = x86_xstate_bytes(&x, shown);
	} else if (sub == 1) {
		/* xsavec, as every processor with AVX-512 has it: glibc binds functions with it */
		out[EAX] = cpu >= SERVED_V4 ? BIT(1) : 0;
	} else if (sub < X86_STATE_COMPONENTS && shown >> sub & 1) {
		real(LEAF_STATE, sub, out);
		out[ECX] &= BIT(1), out[EDX] = 0;
	}
}

static void topology(uint32_t sub, uint32_t out[4])
{
	enum { THREADS = 1, CORES = 2 };
	out[ECX] = sub & 0xff;
	if (sub > 1)
		return;
	out[EBX] = 1;
	out[ECX] |= (sub == 0 ? THREADS : CORES) << 8;
}

static void name(enum served_cpu cpu, uint32_t part, uint32_t out[4])
{
	char text[48] = "x86-64-v0, shown by tare";
	text[8] = (char)('2' + (cpu - SERVED_V2));
	for (unsigned i = 0; i < 4; i++)
		for (unsigned b = 0; b < 4; b++)
			out[i] |= (uint32_t)(uint8_t)text[part * 16 + i * 4 + b] << (8 * b);
}

void x86_served_cpuid(enum served_cpu cpu, uint32_t leaf, uint32_t sub, x86_cpuid *real, uint32_t out[4])
{
	static const uint32_t signature[] = {[SERVED_V2] = 0x106a3, [SERVED_V3] = 0x306c3, [SERVED_V4] = 0x50654};
	out[EAX] = out[EBX] = out[ECX] = out[EDX] = 0;
	switch (leaf) {
	case 0: /* GenuineIntel */
		out[EAX] = cpu >= SERVED_V3 ? 13 : 11;
		out[EBX] = 0x756e6547, out[EDX] = 0x49656e69, out[ECX] = 0x6c65746e;
		break;
	case LEAF_FEATURES: /* flushed lines of 8 × 8 bytes, one logical processor, which is number 0 */
		out[EAX] = signature[cpu];
		out[EBX] = 1u << 16 | 8 << 8;
		out[ECX] = features_of(cpu, LEAF_FEATURES, ECX);
		out[EDX] = BASELINE;
		break;
	case 2: /* 0xff: the caches are in leaf 4; the rest are Haswell's TLBs */
		out[EAX] = 0x76036301, out[EBX] = 0x00f0b5ff, out[EDX] = 0x00c10000;
		break;
	case 4: caches(sub, out); break;
	case LEAF_MORE:
		if (sub == 0)
			out[EBX] = features_of(cpu, LEAF_MORE, EBX);
		break;
	case 11: topology(sub, out); break;
	case LEAF_STATE:
		if (cpu >= SERVED_V3)
			state(cpu, sub, real, out);
		break;
	case 0x80000000: out[EAX] = 0x80000008; break;
	case LEAF_EXTENDED:
		out[ECX] = features_of(cpu, LEAF_EXTENDED, ECX);
		out[EDX] = BASELINE_EXTENDED;
		break;
	case 0x80000002:
	case 0x80000003:
	case 0x80000004: name(cpu, leaf - 0x80000002, out); break;
	case 0x80000006: out[ECX] = 0x01006040; break; /* the second level: 256 KiB, 8 ways, 64 bytes */
	case 0x80000007: out[EDX] = BIT(8); break;     /* the time-stamp counter runs evenly */
	case 0x80000008: out[EAX] = 48 << 8 | 39; break;
	}
}

/* ---- instructions ---- */

enum x86_random x86_random_of(const struct x86_insn *in)
{
	if (in->encoding != X86_LEGACY || in->map != X86_MAP_0F || in->opcode != 0xc7 || !in->has_modrm ||
	    in->modrm >> 6 != 3 || (in->prefixes & X86_PREFIX_REP))
		return X86_NOT_RANDOM; /* with f3 it is rdpid, or senduipi */
	unsigned extension = in->modrm >> 3 & 7;
	return extension == 6 ? X86_RDRAND : extension == 7 ? X86_RDSEED : X86_NOT_RANDOM;
}

bool x86_is_served(const struct x86_insn *in, enum served_cpu cpu, bool masks_state)
{
	if (cpu == SERVED_NONE)
		return false;
	switch (in->special) {
	case X86_SPECIAL_RDTSC:
	case X86_SPECIAL_RDTSCP:
	case X86_SPECIAL_RDPID: return true;
	case X86_SPECIAL_CPUID:
	case X86_SPECIAL_XGETBV: return cpu != SERVED_HOST;
	case X86_SPECIAL_XSAVE: return masks_state && x86_state_kind(in) != X86_STATE_NONE;
	default: return x86_random_of(in) != X86_NOT_RANDOM;
	}
}

bool x86_served_lacks(const struct x86_insn *in, enum served_cpu cpu)
{
	if (cpu <= SERVED_HOST)
		return false;
	if ((in->class & X86_CLASS_AMX) || in->special == X86_SPECIAL_PKRU)
		return true;
	return (in->encoding == X86_EVEX && cpu < SERVED_V4) ||
	       ((in->encoding == X86_VEX2 || in->encoding == X86_VEX3) && cpu < SERVED_V3);
}

/* The vector state of arm64 for the harness: see harness_aarch64.S. */
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#ifndef PR_SVE_GET_VL
#define PR_SVE_GET_VL 51
#endif

enum {
	FPSR = 512,
	FPCR = 520,
	Z = 1024,
	P = 9216,
	FFR = 9728,
	COMPONENT_SVE = 2,
	/* rounding to zero, flush to zero; some exceptions seen */
	ODD_FPCR = 3 << 22 | 1 << 24,
	ODD_FPSR = 0x1b
};

static uint64_t machine_components(void)
{
	return 1 | (getauxval(AT_HWCAP) & HWCAP_SVE ? COMPONENT_SVE : 0);
}

static void vectors_fill(unsigned char *vectors, unsigned seed)
{
	uint64_t fpcr = ODD_FPCR, fpsr = ODD_FPSR;
	size_t length = harness_components & COMPONENT_SVE ? (size_t)(prctl(PR_SVE_GET_VL) & 0xffff) : 16;
	size_t from = length == 16 && !(harness_components & COMPONENT_SVE) ? 0 : Z;
	memset(vectors, 0, VECTOR_BYTES);
	for (size_t i = 0; i < 32 * length; i++)
		vectors[from + i] = (unsigned char)((i * 41 + seed * 13) | 1);
	if (from) {
		for (size_t i = 0; i < 16 * length / 8; i++)
			vectors[P + i] = (unsigned char)((i * 43 + seed * 17) | 1);
		/* ones from the first element on: what it holds when a load faults (Arm ARM, "FFR") */
		memset(vectors + FFR, 0, 32);
		vectors[FFR] = 0x0f;
	}
	memcpy(vectors + FPSR, &fpsr, sizeof fpsr);
	memcpy(vectors + FPCR, &fpcr, sizeof fpcr);
}

static void vectors_clear(unsigned char *vectors)
{
	memset(vectors, 0, VECTOR_BYTES);
}

/* x30 is the return address: compared with that of a function that does nothing. */
#define HARNESS_STACK_POINTER 31
#define HARNESS_RETURN 30
#define HARNESS_GENERAL 32
#define HARNESS_ALIGNMENTS 64
#define HARNESS_ALIGNMENT_STEP 16

static const char *const general_names[] = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
					     "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					     "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					     "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp" };

static const uint32_t flag_patterns[] = { 0,          1u << 31,   1u << 30,   1u << 29,   1u << 28,   0xf0000000,
					  0xa0000000, 0x50000000, 0x90000000, 0x60000000, 0x30000000, 0xc0000000 };

static bool flags_allowed(uint32_t flags, size_t alignment)
{
	(void)flags;
	(void)alignment;
	return true;
}

static void vectors_normal(unsigned char *vectors)
{
	(void)vectors;
}

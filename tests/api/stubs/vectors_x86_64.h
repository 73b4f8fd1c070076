/* The vector state of x86-64 for the harness: an image as xsave writes it (Intel SDM 1, 13.4 and 13.5). */
#include <cpuid.h>

enum {
	FCW = 0,
	FSW = 2,
	FTW = 4,
	MXCSR = 24,
	ST = 32,
	XMM = 160,
	LEGACY_END = 416,
	HEADER = 512,
	HEADER_END = 576,
	/* control words that are not the usual ones, all exceptions masked, some flags set */
	ODD_FCW = 0x067f,
	ODD_FSW = 0x3921,
	ODD_MXCSR = 0xffa5
};

/* SSE, AVX, AVX-512; x87 always. Not PKRU, not AMX. */
#define HARNESS_WANTED ((uint64_t)0xe7)

static uint64_t machine_components(void)
{
	uint32_t a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 27))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return a & HARNESS_WANTED;
}

/* Every register has bytes of its own. */
static void vectors_fill(unsigned char *vectors, unsigned seed)
{
	uint16_t fcw = ODD_FCW, fsw = ODD_FSW;
	uint32_t mxcsr = ODD_MXCSR;
	for (size_t i = ST; i < LEGACY_END; i++)
		vectors[i] = (unsigned char)((i * 37 + seed * 11) | 1);
	for (size_t st = 0; st < 8; st++)
		memset(vectors + ST + 16 * st + 10, 0, 6);
	memset(vectors, 0, ST);
	memcpy(vectors + FCW, &fcw, sizeof fcw);
	memcpy(vectors + FSW, &fsw, sizeof fsw);
	vectors[FTW] = 0xff;
	memcpy(vectors + MXCSR, &mxcsr, sizeof mxcsr);
	memset(vectors + HEADER, 0, HEADER_END - HEADER);
	memcpy(vectors + HEADER, &harness_components, sizeof harness_components);
	for (uint32_t component = 2; component < 8; component++) {
		uint32_t size, offset, c, d;
		if (!(harness_components >> component & 1) ||
		    !__get_cpuid_count(0xd, component, &size, &offset, &c, &d))
			continue;
		for (size_t i = offset; i < offset + size; i++)
			vectors[i] = (unsigned char)((i * 41 + seed * 13) | 1);
	}
}

/* xsave leaves the rest of the header as it finds it. */
static void vectors_clear(unsigned char *vectors)
{
	memset(vectors, 0, VECTOR_BYTES);
}

#define HARNESS_STACK_POINTER 4
#define HARNESS_GENERAL 16
#define HARNESS_RETURN HARNESS_STACK_POINTER /* no register */
#define HARNESS_ALIGNMENTS 64
#define HARNESS_ALIGNMENT_STEP 1

static const char *const general_names[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					     "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

/* CF PF AF ZF SF DF OF, AC (only where the stack is aligned), ID; bit 1 is always set, bit 9 is IF */
#define FLAG(bit) (0x202 | 1u << (bit))
#define FLAG_AC 18
static const uint32_t flag_patterns[] = { 0x202,         FLAG(0),       FLAG(2),
					  FLAG(4),       FLAG(6),       FLAG(7),
					  FLAG(10),      FLAG(11),      FLAG(21),
					  0x202 | 0xcd5, FLAG(FLAG_AC), 0x202 | 0xcd5 | 1u << FLAG_AC | 1u << 21 };

static bool flags_allowed(uint32_t flags, size_t alignment)
{
	return !(flags >> FLAG_AC & 1) || alignment % 8 == 0;
}

/* What is no register: the bits of MXCSR that this CPU has. */
static void vectors_normal(unsigned char *vectors)
{
	memset(vectors + MXCSR + 4, 0, 4);
}

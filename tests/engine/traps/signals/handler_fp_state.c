/* fact: a handler begins with Linux's initial floating-point state, and the interrupted one comes back
 * libs: -lm */
#include "trap.h"
#include <cpuid.h>
#include <fenv.h>

struct seen {
	unsigned mxcsr, tag;
	unsigned short control, status;
	uint64_t vectors, masks;
	unsigned char xmm[16];
	long double sum;
};
static struct seen seen;
static unsigned outer_mxcsr;
static bool has_xsave, has_avx512;

static uint64_t xgetbv(unsigned which)
{
	unsigned low, high;
	asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
	return (uint64_t)high << 32 | low;
}

static unsigned component_at(unsigned n)
{
	unsigned a, b, c, d;
	__cpuid_count(13, n, a, b, c, d);
	return b;
}

static bool all_zero(const unsigned char *at, unsigned n)
{
	while (n && !at[n - 1])
		n--;
	return !n;
}

/* What the processor holds, by an xsave of all but tiles: before anything else is computed. */
static unsigned char area[32768] __attribute__((aligned(64)));
static void look(struct seen *to)
{
	if (has_xsave)
		asm volatile("xsave64 (%0)" : : "r"(area), "a"(0xff & ~0x18), "d"(0) : "memory");
	else
		asm volatile("fxsave64 (%0)" : : "r"(area) : "memory");
	memcpy(&to->control, area, 2);
	memcpy(&to->status, area + 2, 2);
	to->tag = area[4];
	memcpy(&to->mxcsr, area + 24, 4);
	memcpy(to->xmm, area + 160 + 7 * 16, 16);
	to->vectors = !all_zero(area + 160, 256);
	if (has_xsave && xgetbv(0) & 4)
		to->vectors |= !all_zero(area + component_at(2), 256) << 1;
	if (has_avx512) {
		to->masks = !all_zero(area + component_at(5), 64);
		to->vectors |= !all_zero(area + component_at(6), 512) << 2 | !all_zero(area + component_at(7), 1024) << 3;
	}
}

static long double values[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	look(&seen);
	long double sum = 0;
	for (int i = 0; i < 9; i++)
		sum = sum * 0.5L + values[i];
	seen.sum = sum;
	fesetround(FE_UPWARD); /* none of it is the program's */
	asm volatile("fninit; fldz; pcmpeqd %%xmm7, %%xmm7" : : : "xmm7");
}

static void nested(int signal, siginfo_t *info, void *context)
{
	unsigned mxcsr = 0x7f80; /* towards zero */
	(void)signal, (void)info, (void)context;
	asm volatile("ldmxcsr %0; fld1; fld1" : : "m"(mxcsr));
	raise(SIGUSR1);
	asm volatile("stmxcsr %0; fstp %%st(0); fstp %%st(0)" : "=m"(mxcsr));
	outer_mxcsr = mxcsr;
}

static void frame_editor(int signal, siginfo_t *info, void *context)
{
	struct _libc_fpstate *fp = ((ucontext_t *)context)->uc_mcontext.fpregs;
	(void)signal, (void)info;
	fp->mxcsr = 0x3f80; /* down */
	fp->cwd = 0x77f;
	for (int i = 0; i < 4; i++)
		fp->_xmm[7].element[i] = 0x01010101u * (unsigned)(i + 1);
}

static sigjmp_buf back;
static void leaver(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	volatile double zero = 0, one = 1;
	volatile double infinity = one / zero; /* kills the process where the interrupted code's traps are still on */
	(void)infinity;
	siglongjmp(back, 1);
}

__attribute__((target("avx512f,avx512bw"))) static void fill_upper(void)
{
	asm volatile("kxnorq %%k2, %%k2, %%k2; vpternlogd $0xff, %%zmm5, %%zmm5, %%zmm5; vmovdqa64 %%zmm5, %%zmm21" : : : "xmm5", "xmm21", "k2");
}

static void raise_with(unsigned char xmm7[16], unsigned mxcsr, unsigned short control, unsigned char xmm_after[16], unsigned *mxcsr_after,
		       unsigned short *control_after, long double *sum)
{
	asm volatile("fninit; fldcw %[control]; fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1;"
		     "ldmxcsr %[mxcsr]; movdqu %[in], %%xmm7; syscall;"
		     "movdqu %%xmm7, %[out]; stmxcsr %[mxcsr_after]; fnstcw %[control_after];"
		     "faddp; faddp; faddp; faddp; faddp; faddp; faddp; fstpt %[sum]; fninit"
		     : [out] "=m"(*(unsigned char (*)[16])xmm_after), [mxcsr_after] "=m"(*mxcsr_after), [control_after] "=m"(*control_after), [sum] "=m"(*sum)
		     : "a"(SYS_tgkill), "D"(getpid()), "S"(syscall(SYS_gettid)), "d"(SIGUSR1), [in] "m"(*(unsigned char (*)[16])xmm7),
		       [mxcsr] "m"(mxcsr), [control] "m"(control)
		     : "rcx", "r11", "xmm7", "memory", "cc");
	unsigned fresh = 0x1f80;
	asm volatile("ldmxcsr %0" : : "m"(fresh));
}

int main(void)
{
	unsigned a, b, c = 0, d, mxcsr, initial = 0x1f80;
	unsigned char pattern[16], after[16];
	unsigned short control;
	long double sum;
	__get_cpuid(1, &a, &b, &c, &d);
	has_xsave = c >> 27 & 1;
	has_avx512 = has_xsave && (xgetbv(0) & 0xe0) == 0xe0;
	memset(pattern, 0x77, 16);
	long lost = 0, leaked = 0, leaked_registers = 0;
	on_signal(SIGUSR1, handler, 0);
	for (int round = 0; round < 200; round++) {
		if (has_avx512)
			fill_upper();
		raise_with(pattern, 0x1f80 | 0x6000, 0x77f, after, &mxcsr, &control, &sum);
		lost += memcmp(after, pattern, 16) || mxcsr != (0x1f80 | 0x6000) || control != 0x77f || sum != 8;
		leaked += seen.mxcsr != initial || seen.control != 0x37f;
		leaked_registers += seen.status != 0 || seen.tag != 0 || seen.vectors != 0 || seen.masks != 0;
	}
	fact_equal(lost, 0, "vectors, MXCSR, x87 control and eight values on the x87 stack come back");
	fact_equal(leaked, 0, "a handler begins with MXCSR 0x1f80 and x87 control 0x37f");
	fact_equal(leaked_registers, 0, "and with an empty x87 stack, vectors and masks all zero");
	long double expected = 0;
	for (int i = 0; i < 9; i++)
		expected = expected * 0.5L + values[i];
	fact(seen.sum == expected, "a handler computes in long double while eight values are on the x87 stack");

	on_signal(SIGUSR2, nested, 0);
	raise(SIGUSR2);
	fact_equal(seen.mxcsr, initial, "a nested handler begins so, too");
	fact((outer_mxcsr & 0xffc0) == 0x7f80, "and the outer handler's own state comes back");

	on_signal(SIGUSR1, frame_editor, 0);
	raise_with(pattern, 0x1f80, 0x37f, after, &mxcsr, &control, &sum);
	fact(mxcsr == 0x3f80 && control == 0x77f && after[0] == 1 && after[15] == 4, "what a handler writes into its frame arrives");
	/* registers that held their initial values: the kernel says of x87 and SSE always that the frame has them */
	if (has_xsave) {
		memset(area, 0, 1024);
		memcpy(area + 24, &initial, 4);
		asm volatile("xrstor64 (%0)" : : "r"(area), "a"(7), "d"(0) : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			     "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
		asm volatile("xrstor64 (%[area]); mov %[nr], %%eax; mov %[signo], %%edx; syscall; movdqu %%xmm7, %[out]"
			     : [out] "=m"(*(unsigned char (*)[16])after)
			     : [area] "r"(area), [nr] "i"(SYS_tgkill), "D"(getpid()), "S"(syscall(SYS_gettid)), [signo] "i"(SIGUSR1), "a"(7), "d"(0)
			     : "rcx", "r11", "memory", "cc", "xmm7");
		asm volatile("ldmxcsr %0; fninit" : : "m"(initial));
	}
	fact(after[0] == 1 && after[15] == 4, "also where the registers held their initial values");

	on_signal(SIGFPE, leaver, SA_NODEFER);
	volatile double nothing = 0, one = 1, result = 0;
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	if (!sigsetjmp(back, 1))
		result = one / nothing;
	asm volatile("stmxcsr %0" : "=m"(mxcsr));
	fact(result == 0 && (mxcsr & 0x1f80) == 0x1f80, "a SIGFPE handler divides by zero: its exceptions are masked, and stay so behind a longjmp");
	return trap_done();
}

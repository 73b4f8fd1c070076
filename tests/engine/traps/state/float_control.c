/* fact: rounding modes, x87 control and status, MXCSR, FTZ and DAZ are the program's across blocks
 * libs: -lm */
#include "trap.h"
#include <fenv.h>
#include <math.h>

static double (*volatile divide)(double, double);
static double division(double a, double b)
{
	return a / b;
}
static atomic_int seen_control;
static void handler(int signal, siginfo_t *info, void *context)
{
	unsigned mxcsr = 0;
	unsigned short control = 0;
	(void)signal, (void)info;
	asm volatile("stmxcsr %0; fnstcw %1" : "=m"(mxcsr), "=m"(control));
	/* the kernel starts handlers with the interrupted values (mxcsr) or fresh ones, but the frame has the
	 * program's */
	seen_control = (int)((ucontext_t *)context)->uc_mcontext.fpregs->mxcsr;
}

int main(void)
{
	static const int mode[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	static const uint64_t third[] = { 0x3fd5555555555555, 0x3fd5555555555556, 0x3fd5555555555555,
					  0x3fd5555555555555 };
	static const long nearest[] = { 2, 3, 2, 2 };
	divide = division;
	long wrong = 0;
	for (int round = 0; round < 1000; round++) {
		int m = round % 4;
		fesetround(mode[m]);
		double x = divide(1, 3);
		uint64_t bits;
		memcpy(&bits, &x, 8);
		volatile double half = 2.5;
		volatile long double three = 3, one = 1;
		long double y = one / three;
		wrong += bits != third[m] || lrint(half) != nearest[m] || fegetround() != mode[m];
		wrong += (m == 1) != (y * 3 > 1.0L || y > 0.333333333333333333342L);
	}
	fesetround(FE_TONEAREST);
	fact_equal(wrong, 0, "1/3 and lrint(2.5) in four rounding modes, a thousand times");
	unsigned short control = 0x27f, back; /* double precision */
	volatile long double a = 1, b = 3;
	asm volatile("fldcw %0" ::"m"(control));
	volatile long double c = a / b;
	asm volatile("fnstcw %0; fninit" : "=m"(back));
	fact(back == 0x27f && (double)c == c, "x87 precision control rounds to double");
	unsigned mxcsr;
	feclearexcept(FE_ALL_EXCEPT);
	volatile double zero = 0, big = 1e308, tiny = 1e-308;
	volatile double r = divide(1, zero);
	asm volatile("stmxcsr %0" : "=m"(mxcsr));
	fact((mxcsr & 0x3f) == 4 && isinf(r), "a division by zero sets its flag, and no other");
	for (volatile int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	r = big * 10;
	asm volatile("stmxcsr %0" : "=m"(mxcsr));
	fact((mxcsr & 0x3f) == (4 | 8 | 0x20), "flags stay set over system calls and add up");
	mxcsr = 0x9fc0; /* FTZ and DAZ, all masked */
	asm volatile("ldmxcsr %0" ::"m"(mxcsr));
	r = tiny / 16;
	fact(r == 0, "flush to zero");
	on_signal(SIGUSR1, handler, 0);
	raise(SIGUSR1);
	fact((seen_control & 0xffc0) == 0x9fc0, "a signal's frame has the program's MXCSR");
	r = tiny / 16;
	asm volatile("stmxcsr %0" : "=m"(mxcsr));
	fact(r == 0 && (mxcsr & 0xffc0) == 0x9fc0, "and it is the program's after the handler");
	mxcsr = 0x1f80;
	asm volatile("ldmxcsr %0" ::"m"(mxcsr));
	char image[512] __attribute__((aligned(16)));
	asm volatile("fninit; fldpi; fld1; fnstenv %0" : "=m"(image));
	fact(((unsigned short *)image)[2] >> 11 == 6, "the x87 stack has two entries");
	double pi;
	asm volatile("fstp %%st(0); fstpl %0; emms" : "=m"(pi));
	fact(pi == M_PI, "and they are right");
	return trap_done();
}

/* fact: the frame is complete: the xsave area with xmm, ymm, masks and zmm, whose edits arrive in the program
 * build: -mavx512f -mavx512bw
 * needs: avx512f */
#include "trap.h"
#include <cpuid.h>

static long wrong;
static unsigned offset(int component)
{
	unsigned a, b, c, d;
	__cpuid_count(13, component, a, b, c, d);
	return b;
}

static void handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	(void)signal, (void)info;
	unsigned char *area = (unsigned char *)u->uc_mcontext.fpregs;
	unsigned magic, size, magic2;
	uint64_t features;
	memcpy(&magic, area + 464, 4);
	memcpy(&size, area + 480, 4);
	memcpy(&features, area + 472, 8);
	wrong += magic != 0x46505853 || (long)area % 64 != 0 || (features & 0xe7) != 0xe7;
	memcpy(&magic2, area + size, 4);
	wrong += magic2 != 0x46505845;
	wrong += !(u->uc_flags & 1);
	unsigned char *xmm3 = area + 160 + 48, *ymm3 = area + offset(2) + 48, *k2 = area + offset(5) + 16,
		      *zmm3 = area + offset(6) + 96, *zmm20 = area + offset(7) + 4 * 64;
	for (int i = 0; i < 16; i++)
		wrong += xmm3[i] != 0x33 || ymm3[i] != 0x33 || zmm3[i] != 0x33 || zmm20[i] != 0x44;
	uint64_t k;
	memcpy(&k, k2, 8);
	wrong += k != 0x1234567;
	memset(xmm3, 0x51, 16), memset(ymm3, 0x52, 16), memset(zmm3, 0x53, 32), memset(zmm20, 0x54, 64);
	k = 0x7654321;
	memcpy(k2, &k, 8);
	asm volatile("vpxorq %%zmm3, %%zmm3, %%zmm3; vpxorq %%zmm20, %%zmm20, %%zmm20; kxorq %%k2, %%k2, %%k2" ::
			 : "xmm3", "xmm20", "k2");
}

int main(void)
{
	unsigned char z3[64], z20[64];
	long wrong_after = 0;
	on_signal(SIGUSR1, handler, 0);
	for (int i = 0; i < 500; i++) {
		uint64_t k;
		asm volatile(
		    "mov $0x33, %%ecx; vpbroadcastb %%ecx, %%zmm3; mov $0x44, %%ecx; vpbroadcastb %%ecx, %%zmm20;"
		    "mov $0x1234567, %%ecx; kmovq %%rcx, %%k2; syscall; vmovdqu64 %%zmm3, %1; vmovdqu64 %%zmm20, "
		    "%2; kmovq %%k2, %0"
		    : "=r"(k), "=m"(z3), "=m"(z20)
		    : "a"(SYS_tgkill), "D"(getpid()), "S"(syscall(SYS_gettid)), "d"(SIGUSR1)
		    : "rcx", "r11", "xmm3", "xmm20", "k2", "memory");
		wrong_after += k != 0x7654321 || z3[0] != 0x51 || z3[15] != 0x51 || z3[16] != 0x52 ||
			       z3[31] != 0x52 || z3[32] != 0x53 || z3[63] != 0x53 || z20[0] != 0x54 ||
			       z20[63] != 0x54;
	}
	fact_equal(wrong, 0, "the handler finds magic numbers and all components");
	fact_equal(wrong_after, 0, "what the handler wrote into the area is in the registers afterwards");
	return trap_done();
}

/* fact: masks and all of zmm0 to zmm31 survive block exits, system calls, new code and other threads
 * build: -mavx512f -mavx512bw
 * needs: avx512f avx512bw */
#include "trap.h"

asm(".text\nreturns_at_once: ret");
static atomic_int stop;
static void *busy(void *unused)
{
	volatile double x = 1;
	while (!stop)
		x = x * 1.5 + 2;
	return unused;
}

#define EACH(M)                                                                                                   \
	M(0)                                                                                                      \
	M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) M(18) M(19)  \
	    M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
#define LOADZ(n) "vmovdqu64 " #n "*64(%0), %%zmm" #n "\n"
#define STOREZ(n) "vmovdqu64 %%zmm" #n ", " #n "*64(%1)\n"
#define MASKS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define LOADK(n) "kmovq 2048+" #n "*8(%0), %%k" #n "\n"
#define STOREK(n) "kmovq %%k" #n ", 2048+" #n "*8(%1)\n"

int main(void)
{
	unsigned char in[2112], out[2112];
	pthread_t thread[2];
	char *code = map_anywhere(1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, busy, NULL);
	long wrong = 0;
	for (int round = 0; round < 1000; round++) {
		for (unsigned i = 0; i < sizeof in; i++)
			in[i] = (unsigned char)(i * 7 + i / 64 + (unsigned)round);
		char *fresh = code + round * 32;
		write_return(fresh, round);
		asm volatile(
		    "sub $256, %%rsp\n" EACH(LOADZ) MASKS(
			LOADK) "mov $1000, %%ecx; 1: dec %%ecx; jnz 1b; call returns_at_once;"
			       "lea returns_at_once(%%rip), %%rax; call *%%rax; lea 2f(%%rip), %%rax; jmp *%%rax; "
			       "ud2; 2: call *%2; mov $39, %%eax; syscall; mov $24, %%eax; syscall\n" EACH(STOREZ)
				   MASKS(STOREK) "add $256, %%rsp; vzeroupper" ::"r"(in),
		    "r"(out), "r"(fresh)
		    : "rax", "rcx", "r11", "memory", "cc");
		wrong += memcmp(in, out, sizeof in) != 0;
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	fact_equal(wrong, 0, "a thousand rounds");
	return trap_done();
}

/* fact: a fault anywhere inside a long block shows exact registers and flags (spilled ones as well)
 * Sixteen loads in one block: each is made to fault in turn; before the k-th, r8..r15 and the flags have known
 * values. */
#include "trap.h"

static char *page[16];
static long faults, wrong, wrong_flags, wrong_rip, wrong_rsp;
extern char block_start[], block_end[];
static volatile long block_rsp;

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	long k = ((long)info->si_addr - (long)page[0]) / 4096;
	mprotect(page[k], 4096, PROT_READ | PROT_WRITE);
	faults++;
	wrong += r[REG_R8] != k || r[REG_R9] != 3 * k || r[REG_R10] != 1000 - k || r[REG_RCX] != 7 * k;
	/* cmp $8, %r8 ran just before: CF set below 8, ZF at 8 */
	wrong_flags += (r[REG_EFL] & 0x41) != (k < 8 ? 1 : k == 8 ? 0x40 : 0);
	wrong_rip += r[REG_RIP] < (long)block_start || r[REG_RIP] >= (long)block_end ||
		     *(unsigned char *)r[REG_RIP] != 0x48;
	wrong_rsp += r[REG_RSP] != block_rsp;
}

#define STEP(k)                                                                                                   \
	"cmp $8, %%r8; .byte 0x48, 0x03, 0x86; .long " #k "*4096\n" /* add k*4096(%rsi), %rax: REX.W first */     \
	"lea 1(%%r8), %%r8; lea 3(%%r9), %%r9; lea -1(%%r10), %%r10; lea 7(%%rcx), %%rcx\n"

int main(void)
{
	char *base = map_anywhere(16 * 4096, PROT_READ | PROT_WRITE);
	for (int k = 0; k < 16; k++) {
		page[k] = base + k * 4096;
		*(long *)page[k] = 1L << k;
	}
	on_signal(SIGSEGV, handler, 0);
	long sum_wrong = 0;
	for (int round = 0; round < 200; round++) {
		mprotect(base, 16 * 4096, PROT_NONE);
		long sum;
		asm volatile("mov %%rsp, %1; xor %%eax, %%eax; xor %%r8d, %%r8d; xor %%r9d, %%r9d; mov $1000, "
			     "%%r10d; xor %%ecx, %%ecx\n"
			     "block_start:" STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)
				 STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15) "block_end:"
			     : "=&a"(sum), "=m"(block_rsp)
			     : "S"(base)
			     : "r8", "r9", "r10", "rcx", "cc", "memory");
		sum_wrong += sum != 0xffff;
	}
	fact_equal(faults, 16 * 200, "every load faulted once in every round");
	fact_equal(wrong, 0, "registers are exact at every fault");
	fact_equal(wrong_flags, 0, "carry and zero are exact at every fault");
	fact_equal(wrong_rip, 0, "rip is the load's at every fault");
	fact_equal(wrong_rsp, 0, "rsp is the program's at every fault");
	fact_equal(sum_wrong, 0, "the restarted loads have the right values");
	return trap_done();
}

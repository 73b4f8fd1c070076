/* fact: an access beyond a file's end is SIGBUS, with address and rip; an alignment check too */
#include "trap.h"

static long at_signal, at_code, at_rip, at_addr;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	at_signal = signal, at_code = info->si_code, at_rip = r[REG_RIP], at_addr = (long)info->si_addr;
	r[REG_EFL] &= ~0x40000LL;
	r[REG_RIP] = r[REG_R12];
}

int main(void)
{
	int file = memfd_create("short", 0);
	if (ftruncate(file, 4096))
		return 2;
	char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	long rip;
	on_signal(SIGBUS, handler, 0);
	asm volatile("lea 2f(%%rip), %%r12; lea 1f(%%rip), %0\n1: mov (%1), %%rax\n2:"
		     : "=&r"(rip)
		     : "r"(map + 4100)
		     : "r12", "rax");
	fact(at_signal == SIGBUS && at_code == BUS_ADRERR && at_rip == rip && at_addr == (long)map + 4100,
	     "a load beyond the file's end is BUS_ADRERR");
	asm volatile(
	    "sub $128, %%rsp; lea 2f(%%rip), %%r12; lea 1f(%%rip), %0; pushfq; orl $0x40000, (%%rsp); popfq\n"
	    "1: mov 1(%1), %%eax\n2: pushfq; andl $~0x40000, (%%rsp); popfq; add $128, %%rsp"
	    : "=&r"(rip)
	    : "r"(map)
	    : "r12", "rax", "cc", "memory");
	fact(at_signal == SIGBUS && at_code == BUS_ADRALN && at_rip == rip,
	     "a misaligned load under the AC flag is BUS_ADRALN");
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 8192);
	asm volatile("lea 2f(%%rip), %%r12; jmp *%0\n2:" ::"r"(map) : "r12", "memory");
	fact(at_signal == SIGBUS && at_rip == (long)map && at_addr == (long)map,
	     "a jump to code beyond the file's end is SIGBUS at the target");
	return trap_done();
}

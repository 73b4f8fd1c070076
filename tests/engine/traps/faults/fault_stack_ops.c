/* fact: push, pop, call and ret that fault leave rsp, rip and memory as they were
 * call *(bad), push (bad), pop (bad), ret and push with an unmapped rsp, each on the alternate stack. */
#include "trap.h"

static long long at_rsp, at_rip, at_addr;
static long faults;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	at_rsp = r[REG_RSP], at_rip = r[REG_RIP], at_addr = (long)info->si_addr;
	faults++;
	r[REG_RIP] = r[REG_R12]; /* the landing */
	r[REG_RSP] = r[REG_R13];
}

#define TRY(instruction, rsp_value)                                                                               \
	asm volatile("lea 2f(%%rip), %%r12; mov %%rsp, %%r13; lea 1f(%%rip), %0; mov %3, %1; mov %3, %%rsp\n"     \
		     "1: " instruction "; ud2\n2: mov %2, %2"                                                     \
		     : "=&r"(rip), "=&r"(rsp)                                                                     \
		     : "b"(64L), "r"(rsp_value)                                                                   \
		     : "r12", "r13", "memory", "cc")

int main(void)
{
	static char other[65536] __attribute__((aligned(16)));
	long good = (long)(other + 32768);
	stack_t alternate = { .ss_sp = malloc(65536), .ss_size = 65536 };
	sigaltstack(&alternate, NULL);
	on_signal(SIGSEGV, handler, SA_ONSTACK);
	long rip, rsp;
	TRY("call *(%%rbx)", good);
	fact(at_rip == rip && at_rsp == rsp && at_addr == 64,
	     "call through an unmapped pointer: rip is the call's, rsp unchanged");
	TRY("push (%%rbx)", good);
	fact(at_rip == rip && at_rsp == rsp && at_addr == 64, "push of an unmapped word: rsp unchanged");
	TRY("pop (%%rbx)", good);
	fact(at_rip == rip && at_rsp == rsp && at_addr == 64, "pop to an unmapped word: rsp unchanged");
	TRY("jmp *(%%rbx)", good);
	fact(at_rip == rip && at_rsp == rsp && at_addr == 64,
	     "jump through an unmapped pointer: rip is the jump's");
	TRY("ret", 128L);
	fact(at_rip == rip && at_rsp == 128 && at_addr == 128,
	     "ret with an unmapped stack: rip is the ret's, rsp unchanged");
	TRY("push %%rax", 128L);
	fact(at_rip == rip && at_rsp == 128 && at_addr == 120, "push with an unmapped stack: rsp unchanged");
	TRY("call main", 128L);
	fact(at_rip == rip && at_rsp == 128 && at_addr == 120,
	     "call with an unmapped stack: rip is the call's, rsp unchanged");
	TRY("call *%%r12", 128L);
	fact(at_rip == rip && at_rsp == 128 && at_addr == 120,
	     "indirect call with an unmapped stack: rip is the call's, rsp unchanged");
	TRY("pushfq", 128L);
	fact(at_rip == rip && at_rsp == 128 && at_addr == 120, "pushf with an unmapped stack: rsp unchanged");
	fact_equal(faults, 9, "nine faults");
	return trap_done();
}

/* fact: a SEGV handler that edits rip and registers returns elsewhere, with the edited registers
 * Java's safepoints and Go's nil dereferences do this. Every general register is live at the fault. */
#include "trap.h"

extern char fault_here[], landed_here[];
static long seen[17];
static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
			     REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	for (int i = 0; i < 15; i++) {
		seen[i] = r[order[i]];
		r[order[i]] = seen[i] * 3 + 1;
	}
	seen[15] = r[REG_RIP] == (long)fault_here;
	seen[16] = (long)info->si_addr;
	r[REG_RIP] = (long)landed_here;
}

long after[15];
int main(void)
{
	on_signal(SIGSEGV, handler, 0);
	for (int round = 0; round < 1000; round++) {
		memset(seen, 0, sizeof seen);
		asm volatile(
		    "push %%rbp; sub $128, %%rsp; mov $101, %%eax; mov $102, %%ebx; mov $103, %%ecx; mov $104, "
		    "%%edx;"
		    "mov $105, %%esi; mov $106, %%edi; mov $107, %%ebp; mov $108, %%r8d; mov $109, %%r9d;"
		    "mov $110, %%r10d; mov $111, %%r11d; mov $112, %%r12d; mov $113, %%r13d; mov $114, %%r14d; "
		    "mov $115, %%r15d\n"
		    "fault_here: mov %%rax, 0x1000(,%%rcx,8); ud2\n"
		    "landed_here: mov %%rax, after(%%rip); mov %%rbx, after+8(%%rip); mov %%rcx, after+16(%%rip);"
		    "mov %%rdx, after+24(%%rip); mov %%rsi, after+32(%%rip); mov %%rdi, after+40(%%rip);"
		    "mov %%rbp, after+48(%%rip); mov %%r8, after+56(%%rip); mov %%r9, after+64(%%rip);"
		    "mov %%r10, after+72(%%rip); mov %%r11, after+80(%%rip); mov %%r12, after+88(%%rip);"
		    "mov %%r13, after+96(%%rip); mov %%r14, after+104(%%rip); mov %%r15, after+112(%%rip);"
		    "add $128, %%rsp; pop %%rbp" ::
			: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			  "r15", "memory", "cc");
		bool all_seen = true, all_after = true;
		for (int i = 0; i < 15; i++) {
			all_seen &= seen[i] == 101 + i;
			all_after &= after[i] == (101 + i) * 3 + 1;
		}
		if (round == 0 || round == 999 || !all_seen || !all_after) {
			fact(all_seen, "the handler sees all fifteen registers");
			fact(all_after, "all fifteen registers have the handler's values afterwards");
			fact(seen[15], "rip is the faulting instruction's");
			fact_equal(seen[16], 0x1000 + 103 * 8, "si_addr is the address");
		}
	}
	return trap_done();
}

/* fact: the trap flag single-steps the program through its own instructions, one SIGTRAP each */
#include "trap.h"

static long steps, seen[64];
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	if (steps < 64)
		seen[steps] = info->si_code == TRAP_TRACE ? r[REG_RIP] : -1;
	steps++;
}

extern char step_1[], step_2[], step_3[], step_4[], step_5[], step_6[];
int main(void)
{
	on_signal(SIGTRAP, handler, 0);
	asm volatile(
	    "sub $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq\n"
	    "nop\nstep_1: mov $2, %%ecx\nstep_2: dec %%ecx\nstep_3: jnz step_2\nstep_4: call step_6\n"
	    "step_5: jmp 3f\nstep_6: ret\n3: pushfq; andl $~0x100, (%%rsp); popfq; nop; nop; add $128, %%rsp" ::
		: "rcx", "cc", "memory");
	char *expected[] = { step_1, step_2, step_3, step_2, step_3, step_4, step_6, step_5 };
	bool right = true;
	for (int i = 0; i < 8; i++)
		right &= seen[i] == (long)expected[i];
	fact(right, "each step shows the next instruction's address");
	/* after step_5: the jump's target, then pushf, and, popf (its trap is taken by the old flag) */
	fact_equal(steps, 8 + 1 + 3, "one SIGTRAP for each instruction and none afterwards");
	return trap_done();
}

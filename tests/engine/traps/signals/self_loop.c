/* fact: an asynchronous signal reaches a thread that spins in a block linked to itself (Go's preemption) */
#include "trap.h"

extern char spin_1[], spin_1_end[], spin_2[], spin_2_end[], spin_3[], spin_3_end[];
static atomic_int ready, finished;
static long wrong;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal, (void)info;
	char *rip = (char *)r[REG_RIP];
	if (rip >= spin_1 && rip < spin_1_end)
		r[REG_RIP] = (long)spin_1_end;
	else if (rip >= spin_2 && rip < spin_2_end)
		r[REG_RIP] = (long)spin_2_end;
	else if (rip >= spin_3 && rip < spin_3_end)
		r[REG_RIP] = (long)spin_3_end;
	else
		return; /* not in a loop yet: another comes */
	wrong += r[REG_R12] != 0x1234567;
}

static void *spinner(void *unused)
{
	for (int i = 0; i < 300; i++) {
		ready = 3 * i + 1;
		asm volatile("mov $0x1234567, %%r12d\nspin_1: jmp spin_1\nspin_1_end:" ::: "r12", "cc", "memory");
		ready = 3 * i + 2;
		asm volatile("spin_2: dec %%rax; jnz spin_2; jmp spin_2\nspin_2_end:" ::: "rax", "cc", "memory");
		ready = 3 * i + 3;
		asm volatile("spin_3: pause; lea spin_3(%%rip), %%rcx; jmp *%%rcx\nspin_3_end:" ::
				 : "rcx", "cc", "memory");
	}
	finished = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;
	on_signal(SIGURG, handler, 0);
	pthread_create(&thread, NULL, spinner, NULL);
	while (!finished) {
		pthread_kill(thread, SIGURG);
		for (volatile int i = 0; i < 3000; i++)
			;
	}
	pthread_join(thread, NULL);
	fact_equal(ready, 900, "900 spins were left by the handler's rip");
	fact_equal(wrong, 0, "a register of the program is in the frame");
	return trap_done();
}

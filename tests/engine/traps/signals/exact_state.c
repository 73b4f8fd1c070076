/* fact: at an asynchronous signal rip, registers and flags belong to one instruction boundary of the program
 * In the loop every boundary has its own relation between registers: the handler checks that of rip. */
#include "trap.h"

extern char b0[], b1[], b2[], b3[], b4[], b5[], b6[], b7[], b8[], b_end[];
static volatile long in_loop, wrong, outside, stack_pointer;
static atomic_int finish;
static pthread_t worker;

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal, (void)info;
	char *rip = (char *)r[REG_RIP];
	if (rip < b0 || rip >= b_end) {
		outside++;
		return;
	}
	in_loop++;
	long a = r[REG_RAX], b = r[REG_RBX], c = r[REG_RCX], d = r[REG_R15];
	/* b0: all equal. Each instruction adds one to one register. */
	bool right = rip == b0   ? a == b && b == c && c == d
		     : rip == b1 ? a == b + 1 && b == c && c == d
		     : rip == b2 ? a == b && b == c + 1 && c == d
		     : rip == b3 ? a == b && b == c && c == d + 1
		     : rip == b4 ? a == b && b == c && c == d
		     : rip == b5
			 ? a == b && b == c && c == d && !!(r[REG_EFL] & 1) == ((unsigned long)a < 0x40000000)
		     : rip == b6              ? a == b && b == c && c == d && r[REG_RSP] == stack_pointer - 8
		     : rip == b7 || rip == b8 ? a == b && b == c && c == d
					      : false;
	wrong += !right || (r[REG_RSP] != stack_pointer && rip != b6) || r[REG_R14] != 0x7777;
}

static void *killer(void *unused)
{
	while (!finish) {
		pthread_kill(worker, SIGUSR1);
		for (volatile int i = 0; i < 2000; i++)
			;
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	worker = pthread_self();
	on_signal(SIGUSR1, handler, 0);
	pthread_create(&thread, NULL, killer, NULL);
	while (in_loop < 3000)
		asm volatile("sub $256, %%rsp; mov %%rsp, %0; mov $0x7777, %%r14d; xor %%eax, %%eax; xor %%ebx, "
			     "%%ebx; xor %%ecx, %%ecx; xor %%r15d, %%r15d\n"
			     "b0: inc %%rax\nb1: inc %%rbx\nb2: inc %%rcx\nb3: inc %%r15\nb4: cmp $0x40000000, "
			     "%%rax\nb5: push %%rax\nb6: lea 8(%%rsp), %%rsp\n"
			     "b7: cmp $300000, %%rax\nb8: jb b0\nb_end: add $256, %%rsp"
			     : "=m"(stack_pointer)::"rax", "rbx", "rcx", "r14", "r15", "cc", "memory");
	finish = 1;
	pthread_join(thread, NULL);
	fact_equal(wrong, 0, "no signal shows a state that the program never has");
	return trap_done();
}

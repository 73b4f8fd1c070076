/* fact: threads that poll a page are stopped by its protection and go on at the same instruction */
#include "trap.h"
#include <sched.h>

enum { THREADS = 3, ROUNDS = 200 };
static int *page;
static atomic_int stopped, go, finish, ready;
static atomic_long wrong;
extern char poll_here[], poll_after[];
static atomic_long iterations;

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	if (r[REG_RIP] != (long)poll_here || info->si_addr != page || r[REG_RBX] != r[REG_RCX] * 5)
		wrong++;
	int now = go;
	stopped++;
	while (go == now)
		sched_yield();
}

static void *poller(void *unused)
{
	(void)unused;
	ready++;
	while (!finish) {
		asm volatile(
		    "mov $1000, %%ecx; mov $5000, %%ebx\n"
		    "1: \npoll_here: test %%eax, (%0)\npoll_after: lea -5(%%rbx), %%rbx; dec %%rcx; jnz 1b" ::"r"(
			page)
		    : "rcx", "rbx", "cc", "memory");
		iterations++;
	}
	return NULL;
}

int main(void)
{
	page = map_anywhere(4096, PROT_READ | PROT_WRITE);
	on_signal(SIGSEGV, handler, 0);
	pthread_t thread[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, poller, NULL);
	while (ready < THREADS)
		sched_yield();
	for (int round = 0; round < ROUNDS; round++) {
		stopped = 0;
		mprotect(page, 4096, PROT_NONE);
		while (stopped < THREADS)
			sched_yield();
		mprotect(page, 4096, PROT_READ);
		go++;
	}
	finish = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	fact_equal(wrong, 0, "every stop was at the poll with consistent registers");
	fact(iterations > 0, "the threads went on");
	return trap_done();
}

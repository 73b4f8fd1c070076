/* fact: a handler on a stack of the least size works: nothing of the engine lives on the program's stack */
#include "trap.h"
#include <limits.h>
#include <sys/auxv.h>

static atomic_int count;
static size_t bytes;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context, count++;
}

static void *body(void *unused)
{
	char *base = map_anywhere(bytes + 8192, PROT_NONE);
	mprotect(base + 4096, bytes, PROT_READ | PROT_WRITE);
	sigaltstack(&(stack_t){ .ss_sp = base + 4096, .ss_size = bytes }, NULL);
	for (int i = 0; i < 1000; i++)
		raise(SIGUSR1);
	return unused;
}

int main(void)
{
	/* the kernel's least size holds the frame; a page more for the handler's own code */
	bytes = (getauxval(AT_MINSIGSTKSZ) + 1024 + 4095) & ~4095UL;
	on_signal(SIGUSR1, handler, SA_ONSTACK);
	pthread_t thread[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, body, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	fact_equal(count, 4000, "4000 signals on stacks of AT_MINSIGSTKSZ");
	fact(getauxval(AT_MINSIGSTKSZ) > 512 && getauxval(AT_MINSIGSTKSZ) < 16384, "AT_MINSIGSTKSZ is sane");
	return trap_done();
}

/* fact: a stack overflow is caught on the alternate stack and left by siglongjmp, three times
 * limits: stack=8M */
#include "trap.h"

static sigjmp_buf back;
static volatile long on_alternate;
static char *alternate_base;
static void handler(int signal, siginfo_t *info, void *context)
{
	char here;
	(void)info, (void)context;
	on_alternate += &here >= alternate_base && &here < alternate_base + 65536;
	siglongjmp(back, signal);
}

static int recurse(int n)
{
	volatile char block[1000];
	block[n % 1000] = 1;
	return recurse(n + 1) + block[0];
}

int main(void)
{
	volatile int caught = 0;
	alternate_base = malloc(65536);
	sigaltstack(&(stack_t){ .ss_sp = alternate_base, .ss_size = 65536 }, NULL);
	on_signal(SIGSEGV, handler, SA_ONSTACK);
	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(back, 1) == 0)
			caught += recurse(0) & 0;
		else
			caught++;
	fact_equal(caught, 3, "three overflows are caught");
	fact_equal(on_alternate, 3, "the handler ran on the alternate stack each time");
	return trap_done();
}

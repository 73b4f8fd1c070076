/* fact: code under write-xor-execute, flipped by mprotect, runs as last written; without execute it faults
 * Also the order write, then mprotect; another address of the same page; and PROT_NONE in between. */
#include "trap.h"

static sigjmp_buf back;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)context, (void)signal;
	siglongjmp(back, info->si_code == SEGV_ACCERR ? 1 : 2);
}

int main(void)
{
	char *code = map_anywhere(8192, PROT_READ | PROT_WRITE);
	long wrong = 0;
	for (int i = 0; i < 3000; i++) {
		mprotect(code, 4096, PROT_READ | PROT_WRITE);
		write_return(code + 64 * (i % 3), i);
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		wrong += call_code(code + 64 * (i % 3)) != i;
	}
	fact_equal(wrong, 0, "3000 flips");
	on_signal(SIGSEGV, handler, 0);
	mprotect(code, 4096, PROT_READ | PROT_WRITE);
	int reason = sigsetjmp(back, 1);
	if (!reason)
		call_code(code);
	fact_equal(reason, 1, "code whose execute right was taken faults, although it ran before");
	mprotect(code, 4096, PROT_NONE);
	reason = sigsetjmp(back, 1);
	if (!reason)
		call_code(code);
	fact_equal(reason, 1, "code in a page without rights faults");
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	fact_equal(call_code(code), 2997, "with its rights back it runs again");
	reason = sigsetjmp(back, 1);
	if (!reason)
		*(volatile char *)(code + 1) = 1;
	fact_equal(reason, 1, "a store into executable memory without write right is the program's fault");
	fact_equal(call_code(code), 2997, "and changed nothing");
	return trap_done();
}

/* fact: a page that madvise has made a guard is as one that is not there: for reads, writes and execution, and until it is made none */
#include "trap.h"

#define INSTALL 102
#define REMOVE 103

static sigjmp_buf back;
static volatile long code, error;
static void *volatile address;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	code = info->si_code, address = info->si_addr, error = trap_registers(context)[REG_ERR];
	siglongjmp(back, 1);
}

static void faults(void *at, const char *name)
{
	fact(code == SEGV_MAPERR && address == at && !(error & 1), name);
	code = 0, address = NULL;
}

static char *guarded(int protection)
{
	char *page = map_anywhere(2 * 4096, PROT_READ | PROT_WRITE);
	write_return(page, 1), write_return(page + 4096, 2);
	mprotect(page, 2 * 4096, protection);
	if (protection & PROT_EXEC && (call_code(page) != 1 || call_code(page + 4096) != 2))
		_exit(97);
	if (madvise(page, 4096, INSTALL)) /* before Linux 6.13: what a guard is like */
		munmap(page, 4096);
	return page;
}

int main(void)
{
	on_signal(SIGSEGV, handler, 0);
	static const int protections[] = { PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC, PROT_READ | PROT_WRITE };
	for (int i = 0; i < 3; i++) {
		char *page = guarded(protections[i]);
		if (!sigsetjmp(back, 1))
			(void)*(volatile char *)page;
		faults(page, "a read");
		if (protections[i] & PROT_WRITE) {
			if (!sigsetjmp(back, 1))
				*(volatile char *)page = 0;
			faults(page, "a write");
		}
		if (!(protections[i] & PROT_EXEC))
			continue;
		if (!sigsetjmp(back, 1))
			call_code(page);
		faults(page, "execution");
		fact_equal(call_code(page + 4096), 2, "the next page runs");
		if (madvise(page, 4096, REMOVE))
			mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
		write_return(page, 3);
		mprotect(page, 4096, protections[i]);
		fact_equal(call_code(page), 3, "and so does what is written when there is no guard");
	}
	return trap_done();
}

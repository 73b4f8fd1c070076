/* SIGSEGV: the handler makes the page writable and the store is restarted. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
static char *page;
static void mend(int s) { (void)s; mprotect(page, 4096, PROT_READ | PROT_WRITE); }
int main(void)
{
	page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, mend);
	for (int i = 0; i < 20; i++) {
		((volatile char *)page)[i] = 1;
		mprotect(page, 4096, PROT_READ);
	}
	return 0;
}

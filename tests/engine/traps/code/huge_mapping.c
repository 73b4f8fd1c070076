/* fact: a mapping of huge pages replaces whole ones, however short it was asked to be: the code that was there does not run */
#include "trap.h"

#define HUGE (2L << 20)

static char *code;
static void runs_first(void) { _exit(call_code(code)); }
static void runs_second(void) { _exit(call_code(code + 4096)); }

int main(void)
{
	char *area = map_anywhere(2 * HUGE, PROT_NONE);
	code = (char *)(((uintptr_t)area + HUGE - 1) & -(uintptr_t)HUGE);
	mprotect(code, 2 * 4096, PROT_READ | PROT_WRITE);
	write_return(code, 1), write_return(code + 4096, 2);
	mprotect(code, 2 * 4096, PROT_READ | PROT_EXEC);
	fact(call_code(code) == 1 && call_code(code + 4096) == 2, "code runs");
	/* without a reserve it needs no huge page: what is there faults, whether there is one that is zeros or none */
	void *huge = mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB | MAP_NORESERVE | 21 << 26, -1, 0);
	if (huge == MAP_FAILED) /* no huge pages of 2 MB */
		munmap(code, HUGE);
	int first = end_in_child(runs_first), second = end_in_child(runs_second);
	fact(first > 1000, "not in the first page");
	fact(second > 1000, "nor in those behind it");
	return trap_done();
}

/* fact: code on the heap is new when the heap was given back and grew again (brk) */
#include "trap.h"

static char *start;

static void run_it(void) { _exit(call_code(start)); }

int main(void)
{
	start = (char *)(((uintptr_t)sbrk(0) + 8191) & ~4095ul);
	long wrong = 0;
	for (int round = 0; round < 30; round++) {
		int pages = 1 + round % 3;
		if (brk(start + pages * 4096) || mprotect(start, (size_t)pages * 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
			return 2;
		for (int page = 0; page < pages; page++) {
			wrong += start[page * 4096] != 0;
			for (int i = 0; i < 3; i++) {
				write_return(start + page * 4096, round * 10 + i);
				wrong += call_code(start + page * 4096) != round * 10 + i;
			}
		}
		if (brk(start + (round & 1 ? 0 : 4096))) /* all of it, or all but a page */
			return 3;
		if (!(round & 1))
			wrong += call_code(start) != round * 10 + 2;
		brk(start);
	}
	fact_equal(wrong, 0, "code written in pages of the heap that came and went, 30 times");
	brk(start + 4096);
	mprotect(start, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_return(start, 5);
	fact_equal(end_in_child(run_it), 5, "a page that was made executable");
	fact_equal(call_code(start), 5, "runs");
	brk(start);
	brk(start + 4096);
	fact_equal(end_in_child(run_it), 1000 + SIGSEGV, "given back and had again, it is not executable");
	return trap_done();
}

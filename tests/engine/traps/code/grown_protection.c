/* fact: mprotect with PROT_GROWSDOWN changes a mapping from its beginning: what was code there may be written, or runs no more */
#include "trap.h"

#define PAGE 4096
#define PAGES 6
#define ALL (PROT_READ | PROT_WRITE | PROT_EXEC)

static char *at;
static void runs_first(void) { _exit(call_code(at)); }
static void writes_first(void) { *at = 1; }

int main(void)
{
	at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
	fact(at != MAP_FAILED, "a mapping that grows down");
	char *last = at + (PAGES - 1) * PAGE, *middle = at + 2 * PAGE;
	write_return(at, 1), write_return(middle, 11), write_return(last, 21);
	fact_equal(mprotect(at, PAGES * PAGE, PROT_READ | PROT_EXEC), 0, "it is made code");
	fact(call_code(at) == 1 && call_code(middle) == 11 && call_code(last) == 21, "which runs");
	fact_equal(mprotect(last, PAGE, ALL | PROT_GROWSDOWN), 0, "by its last page all of it is made writable");
	write_return(at, 2), write_return(middle, 12);
	fact(call_code(at) == 2 && call_code(middle) == 12 && call_code(last) == 21, "what is written runs");
	fact_equal(mprotect(last, PAGE, PROT_READ | PROT_EXEC | PROT_GROWSDOWN), 0, "and then not writable");
	fact_equal(end_in_child(writes_first), 1000 + SIGSEGV, "its first page is not written");
	fact(call_code(at) == 2 && call_code(middle) == 12, "it runs");
	fact_equal(mprotect(last, PAGE, PROT_READ | PROT_WRITE | PROT_GROWSDOWN), 0, "and then no code");
	fact_equal(end_in_child(runs_first), 1000 + SIGSEGV, "its first page does not run");
	write_return(at, 3);
	fact_equal(mprotect(at, PAGE, ALL), 0, "the first page is code again");
	fact_equal(call_code(at), 3, "with what was written meanwhile");
	fact(mprotect(last, PAGE, ALL | PROT_GROWSUP) == -1 && errno == EINVAL, "it does not grow up");
	return trap_done();
}

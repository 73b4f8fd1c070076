/* fact: code that a child is not to have (MADV_WIPEONFORK, MADV_DONTFORK) is not run there */
#include "trap.h"

static char *code;

static void run_it(void) { _exit(call_code(code)); }

static void write_and_run(void)
{
	for (int i = 40; i < 44; i++) {
		write_return(code, i);
		if (call_code(code) != i)
			_exit(1);
	}
	_exit(code[100] == 0 ? 44 : 2);
}

static void map_and_run(void)
{
	if (mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != code)
		_exit(3);
	write_and_run();
}

int main(void)
{
	for (int written = 0; written < 2; written++) { /* once, and so often that the engine compares it */
		code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		for (int i = 0; i < (written ? 20 : 1); i++) {
			write_return(code, 5);
			code[100] = 9;
			fact_equal(call_code(code), 5, "it runs in the parent");
		}
		if (madvise(code, 4096, MADV_WIPEONFORK))
			skip_trap("the kernel has no MADV_WIPEONFORK");
		fact_equal(end_in_child(run_it), 1000 + SIGSEGV, "a wiped page's zeros fault in the child");
		fact_equal(end_in_child(write_and_run), 44, "what the child writes there runs there");
		fact_equal(call_code(code), 5, "the parent's page is as it was");
		madvise(code, 4096, MADV_KEEPONFORK);
		madvise(code, 4096, MADV_DONTFORK);
		fact_equal(end_in_child(run_it), 1000 + SIGSEGV, "a page that the child has not faults there");
		fact_equal(end_in_child(map_and_run), 44, "what the child maps and writes there runs there");
		fact_equal(call_code(code), 5, "the parent's page is as it was");
		madvise(code, 4096, MADV_DOFORK);
		fact_equal(end_in_child(run_it), 5, "and the child has it again");
	}
	return trap_done();
}

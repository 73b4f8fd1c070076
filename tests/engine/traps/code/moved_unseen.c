/* fact: code that is moved, or attached, while no descriptor is free runs where it is then, and so does what is written there */
#include "trap.h"
#include <sys/resource.h>
#include <sys/shm.h>

#define PAGE 4096

static char *gone;
static void runs_gone(void) { _exit(call_code(gone)); }

int main(void)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	char *code = map_anywhere(4 * PAGE, all), *place = map_anywhere(4 * PAGE, PROT_NONE);
	struct rlimit none = { 0, 0 };
	fact(setrlimit(RLIMIT_NOFILE, &none) == 0 && open("/dev/null", O_RDONLY) == -1 && errno == EMFILE, "no file can be opened");
	write_return(code, 1), write_return(code + 3 * PAGE, 2);
	fact(call_code(code) == 1 && call_code(code + 3 * PAGE) == 2, "code runs");
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	gone = code;
	fact(call_code(code) == 1, "also where it cannot be written");
	mprotect(code, PAGE, all);
	code = mremap(code, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	fact(code == place, "it is moved");
	fact(call_code(code) == 1 && call_code(code + 3 * PAGE) == 2, "it runs there");
	write_return(code, 3);
	fact_equal(call_code(code), 3, "what is written there runs");
	fact_equal(end_in_child(runs_gone), 1000 + SIGSEGV, "where it was nothing runs");
	code = mremap(code, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
	write_return(code + 7 * PAGE, 4);
	fact(call_code(code) == 3 && call_code(code + 7 * PAGE) == 4, "it grows, and runs at its end");
	code = mremap(code, 8 * PAGE, PAGE, 0);
	gone = code + 3 * PAGE;
	fact_equal(call_code(code), 3, "it is made smaller, and runs");
	fact_equal(end_in_child(runs_gone), 1000 + SIGSEGV, "but not behind its end");
	char *shared = mmap(NULL, PAGE, all, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	write_return(shared, 5);
	fact_equal(call_code(shared), 5, "shared code runs");
	char *second = mremap(shared, 0, PAGE, MREMAP_MAYMOVE);
	write_return(shared, 6);
	fact(second != shared && call_code(second) == 6 && call_code(shared) == 6, "and at a second place");
	write_return(second, 7);
	fact_equal(call_code(shared), 7, "what is written there runs here");
	int id = shmget(IPC_PRIVATE, 2 * PAGE, 0600); /* -1 where there is no System V memory */
	char *attached = id == -1 ? shared : shmat(id, NULL, SHM_EXEC);
	if (id != -1)
		shmctl(id, IPC_RMID, NULL);
	write_return(attached, 8);
	fact_equal(call_code(attached), 8, "a segment that is attached runs");
	write_return(attached, 9);
	fact_equal(call_code(attached), 9, "and what is written there");
	return trap_done();
}

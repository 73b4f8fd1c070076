/* fact: pages of code that were moved or sealed can be written and run as any (mremap with all its flags, mseal) */
#include "trap.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
enum { BYTES = 4 * 4096 };

static long wrong;

static void try_all(char *code, int from)
{
	for (int i = 0; i < 12; i++) {
		char *at = code + i % 4 * 4096 + 64;
		write_return(at, from + i);
		wrong += call_code(at) != from + i;
	}
}

static void check(char *code, int last)
{
	for (int page = 0; page < 4; page++)
		wrong += call_code(code + page * 4096 + 64) != last - 3 + page;
}

int main(void)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	char *code = map_anywhere(BYTES, all), *place = map_anywhere(BYTES, PROT_NONE);
	try_all(code, 100);
	code = mremap(code, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	fact(code == place, "code is moved to a place of the program's choice");
	check(code, 111);
	try_all(code, 200);
	fact_equal(wrong, 0, "there it runs, and what is written then");

	char *moved = mremap(code, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	if (moved == MAP_FAILED)
		skip_trap("the kernel has no MREMAP_DONTUNMAP");
	check(moved, 211);
	fact_equal(code[64], 0, "without unmapping: the old place is empty");
	try_all(code, 300);
	try_all(moved, 400);
	check(code, 311);
	fact_equal(wrong, 0, "both places are written and run");

	char *grown = mremap(moved, BYTES, 8 * BYTES, MREMAP_MAYMOVE);
	check(grown, 411);
	write_return(grown + 7 * BYTES, 77);
	fact_equal(call_code(grown + 7 * BYTES), 77, "a mapping that has grown runs at its end");
	try_all(grown, 500);
	grown = mremap(grown, 8 * BYTES, BYTES, 0);
	check(grown, 511);
	try_all(grown, 600);
	fact_equal(wrong, 0, "and one that was made smaller");

	if (syscall(462, code, BYTES, 0) == 0) {
		check(code, 311);
		try_all(code, 700);
		check(code, 711);
		try_all(code, 800);
		fact(mprotect(code, 4096, PROT_READ) == -1 && errno == EPERM, "a sealed mapping's protection stays");
	} else {
		fact(errno == ENOSYS || errno == EPERM, "a sealed mapping's protection stays"); /* no mseal here */
	}
	fact_equal(wrong, 0, "sealed code is written and run");
	return trap_done();
}

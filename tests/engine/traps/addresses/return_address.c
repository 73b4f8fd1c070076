/* fact: return addresses, backtraces, dladdr and function pointers are addresses of the program
 * build: -rdynamic -fno-omit-frame-pointer -fno-optimize-sibling-calls
 * libs: -ldl */
#include "trap.h"
#include <dlfcn.h>
#include <execinfo.h>

static void *returned;
static char names[5][64];
static int frames;
__attribute__((noinline)) void leaf(void)
{
	void *address[32];
	returned = __builtin_return_address(0);
	int count = backtrace(address, 32);
	frames = 0;
	for (int i = 0; i < count && frames < 4; i++) {
		Dl_info info;
		if (dladdr(address[i], &info) && info.dli_sname)
			snprintf(names[frames++], 64, "%s", info.dli_sname);
	}
}
__attribute__((noinline)) void middle(void)
{
	leaf();
	asm volatile("");
}
__attribute__((noinline)) void outer(void)
{
	middle();
	asm volatile("");
}
int main(void)
{
	outer();
	fact(frames >= 3 && !strcmp(names[0], "leaf") && !strcmp(names[1], "middle") && !strcmp(names[2], "outer"),
	     "a backtrace names leaf, middle, outer");
	fact((char *)returned > (char *)middle && (char *)returned < (char *)middle + 64,
	     "the return address is in the caller");
	void (*volatile pointer)(void) = outer;
	pointer();
	fact(pointer == (void (*)(void))dlsym(NULL, "outer"), "a function's pointer is its symbol's");
	void *here = NULL;
	asm volatile("lea 0(%%rip), %0" : "=r"(here));
	fact((char *)here > (char *)main && (char *)here < (char *)main + 1000,
	     "lea of rip is an address of the program");
	return trap_done();
}

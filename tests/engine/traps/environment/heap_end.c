/* fact: the heap of a program that is not position-independent grows by 4 GB, and MAP_32BIT has its place, past all that the engine keeps near it
 * build: -no-pie -fno-pie */
#include "trap.h"

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*volatile calls[])(int) = { one, two };

int main(void)
{
	const long step = 16 << 20, steps = 256;
	long given = 0, sum = 0;
	char *start = sbrk(0), *last = NULL;
	char *below = mmap(NULL, 900 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_NORESERVE, -1, 0);
	fact(below != MAP_FAILED && (uint64_t)below + (900 << 20) <= 0x80000000, "900 MB between 1 GB and 2 GB");
	for (long at = 0; below != MAP_FAILED && at < 900 << 20; at += 1 << 20)
		below[at] = (char)calls[at & 1](at & 127);
	if (below != MAP_FAILED)
		munmap(below, 900 << 20);
	for (; given < steps; given++) {
		char *at = sbrk(step);
		if (at == (void *)-1)
			break;
		*at = 1;
		last = at;
		sum = calls[given & 1]((int)sum);
	}
	if (given < steps || below == MAP_FAILED) /* natively a reason; under the engine another end, and noticed */
		skip_trap("there is no room for a heap of 4 GB");
	fact_equal(given * 16, 4096, "MB that sbrk gave");
	fact_equal(sum, 128 * 3, "calls by pointers meanwhile");
	fact(last && last + step == (char *)sbrk(0), "it is one piece");
	fact(brk(start) == 0 && sbrk(0) == start, "and is given back");
	return trap_done();
}

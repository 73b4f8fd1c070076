/* fact: mappings at addresses of the program's choice change nothing of the engine's, wherever that is
 * Natively all of these places are free. The engine's code and tables give way; where the rest of it is the program is told that there is
 * no room, as the kernel does, or that nothing is there. */
#include "trap.h"

static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
static int (*volatile calls[])(int) = { twice, thrice };

static int goes_on(void)
{
	int sum = 0;
	for (int i = 0; i < 100; i++)
		sum += calls[i & 1](i);
	return sum == 2 * 2450 + 3 * 2500;
}

/* Fills what it is given with bytes that would be noticed. */
static int take(uint64_t at, uint64_t bytes)
{
	char *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return errno == ENOMEM ? 2 : 0;
	if (p != (char *)at)
		return 0;
	for (uint64_t i = 0; i < bytes; i += bytes < 1 << 22 ? 1 : bytes / 512)
		p[i] = (char)0xcc;
	p[bytes - 4096] = (char)0xcc;
	int fine = goes_on() && p[bytes - 4096] == (char)0xcc;
	munmap(p, bytes);
	return fine;
}

int main(void)
{
	long wrong = 0;
	wrong += take(0x7fc00000, 2 << 20) != 1;
	fact_equal(wrong, 0, "2 MB at 0x7fc00000");
	for (uint64_t at = 0x10000; at < 0x80000000; at += 0x8000000)
		wrong += take(at, 0x8000000 - 0x10000) != 1;
	fact_equal(wrong, 0, "all but all below 2 GB, 128 MB at a time");
	for (uint64_t at = 0x10000; at < 0x80000000; at += 0x4000000)
		wrong += take(at, 2 << 20) != 1;
	fact_equal(wrong, 0, "and in small pieces");
	int reserved = take(0x7ee000000000, 1 << 20), many = take(0x7ee000000000, 1ull << 33);
	fact(reserved && many, "at 0x7ee000000000: it is there, or the program is told that there is no room");
	fact(goes_on(), "and goes on");
	fact_equal(munmap((void *)0x7ee000000000, 1ull << 33), 0, "munmap where nothing is");
	fact(mprotect((void *)0x7ee000000000, 1 << 20, PROT_NONE) == -1 && errno == ENOMEM, "mprotect of nothing is ENOMEM");
	fact(madvise((void *)0x7ee000000000, 1ull << 33, MADV_DONTNEED) == -1 && errno == ENOMEM, "madvise of nothing is ENOMEM");
	fact(mremap((void *)0x7ee000000000, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT, "mremap of nothing is EFAULT");
	fact(goes_on(), "and goes on");
	return trap_done();
}

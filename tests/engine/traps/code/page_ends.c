/* fact: code at the end of a page that goes on in the next page runs as last written, whichever page was written last
 * The engine keeps a list of blocks for each page. The first block leads into the second page's, and is dropped with it: it is made
 * again without its own page having changed. Seen in valgrind, pypy3: an endless loop in the engine. */
#include "trap.h"

enum { ROUNDS = 60, CALLS = 14 };

/* xor eax,eax; add al,A; a way out that is not taken, a jump, or a call; on the next page: add al,B; ret */
static void write_pair(unsigned char *code, unsigned kind, int a, int b)
{
	static const char *const end[] = {"\x85\xff\x75\xf6", "\xeb\x02\x0f\x0b", "\x90\x90\xeb\x00", "\x0f\x1f\x40\x00"};
	unsigned char *first = code + 4096 - 8;
	memcpy(first, "\x31\xc0\x04", 3);
	first[3] = (unsigned char)a;
	memcpy(first + 4, end[kind], 4);
	memcpy(code + 4096, "\x04\x00\xc3", 3);
	code[4097] = (unsigned char)b;
}

int main(void)
{
	long wrong = 0;
	unsigned random = 1;
	for (unsigned round = 0; round < ROUNDS; round++) { /* fresh pages: those written often are compared, not watched */
		unsigned char *code = map_anywhere(12288, PROT_READ | PROT_WRITE | PROT_EXEC);
		int a = 1, b = 2;
		write_pair(code, round % 4, a, b);
		for (unsigned i = 0; i < CALLS; i++) {
			wrong += ((int (*)(int))(code + 4096 - 8))(0) != a + b;
			random = random * 1103515245 + 12345;
			if (round & 4 ? i & 1 : random >> 16 & 1)
				code[4097] = (unsigned char)(b = 1 + (int)i % 50);
			else if (round & 4 ? 1 : random >> 17 & 1)
				code[4096 - 5] = (unsigned char)(a = 1 + (int)i % 40);
			else
				code[random >> 18 & 2047] = 0; /* data beside it */
		}
		munmap(code, 12288);
	}
	fact_equal(wrong, 0, "sums of two pages' numbers, after each was written in turn");
	return trap_done();
}

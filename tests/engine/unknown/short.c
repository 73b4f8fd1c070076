/* A near branch behind 66: on Intel's processors it goes where it would without; on AMD's it and its return address have 16 bits, so that
   all but those that are not taken end by SIGSEGV. The last two are the same on all processors: REX.W, and no branch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	static const struct { unsigned char bytes[16]; unsigned length; } all[] = {
		{{0x66, 0xeb, 0}, 3}, {{0x66, 0xe9, 0, 0, 0, 0}, 6}, {{0x66, 0xe8, 0, 0, 0, 0, 0x58}, 7}, {{0x31, 0xc0, 0x66, 0x74, 0}, 5},
		{{0x31, 0xc0, 0x66, 0x75, 0}, 5}, {{0x31, 0xc0, 0x66, 0x0f, 0x84, 0, 0, 0, 0}, 9}, {{0x66, 0xe2, 0}, 3}, {{0x66, 0xe3, 0}, 3},
		{{0x66, 0xc3}, 2}, {{0x66, 0xc2, 0, 0}, 4}, {{0x48, 0x8d, 0x05, 3, 0, 0, 0, 0x66, 0xff, 0xe0}, 10},
		{{0x48, 0x8d, 0x05, 3, 0, 0, 0, 0x66, 0xff, 0xd0, 0x58}, 11}, {{0x66, 0x48, 0xe9, 0, 0, 0, 0}, 7}, {{0x66, 0x90}, 2},
	};
	unsigned row = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	if (row >= sizeof all / sizeof *all)
		return 3;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, all[row].bytes, all[row].length);
	page[all[row].length] = 0xc3;
	__asm__ volatile("sub $128, %%rsp; call *%0; add $128, %%rsp" : : "r"(page) : "memory", "cc", "rax", "rcx");
	printf("%u went on\n", row);
	return 0;
}

/* Code that is made, run, changed and made anew at the same place. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	static long word[64];
	unsigned char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;
	for (int round = 0; round < 300; round++) {
		unsigned char *p = code + round % 5 * 700;
		for (int i = 0; i < 4; i++) { /* mov rax, [rdi + 8 i]; add [rdi + disp], rax */
			memcpy(p, "\x48\x8b\x47", 3), p[3] = (unsigned char)(8 * ((round + i) % 16)), p += 4;
			memcpy(p, "\x48\x01\x47", 3), p[3] = (unsigned char)(8 * (round * 3 % 16)), p += 4;
		}
		*p = 0xc3;
		((void (*)(long *))(code + round % 5 * 700))(word);
		word[round % 64]++;
		sum += word[3];
	}
	printf("%ld\n", sum);
	return 0;
}

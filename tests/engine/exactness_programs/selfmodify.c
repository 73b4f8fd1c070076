/* Code written, executed, rewritten. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;
	for (int i = 0; i < 10; i++) {
		unsigned char bytes[] = {0xb8, (unsigned char)i, 0, 0, 0, 0xc3}; /* mov $i, %eax; ret */
		memcpy(code, bytes, sizeof bytes);
		sum += ((int (*)(void))code)();
	}
	return sum != 45;
}

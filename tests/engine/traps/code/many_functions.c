/* fact: a program that makes and drops 300000 functions runs each right, in bounded memory */
#include "trap.h"

static long status_kb(const char *field)
{
	char text[8192];
	int file = open("/proc/self/status", O_RDONLY);
	long bytes = read(file, text, sizeof text - 1);
	close(file);
	text[bytes > 0 ? bytes : 0] = 0;
	char *at = strstr(text, field);
	return at ? atol(at + strlen(field) + 1) : -1;
}

int main(void)
{
	long wrong = 0;
	for (int i = 0; i < 300; i++) {
		char *code = map_anywhere(32768, PROT_READ | PROT_WRITE | PROT_EXEC);
		for (int f = 0; f < 1000; f++)
			write_return(code + f * 32, i * 1000 + f);
		for (int f = 0; f < 1000; f++)
			wrong += call_code(code + f * 32) != i * 1000 + f;
		munmap(code, 32768);
	}
	fact_equal(wrong, 0, "every function returned its number");
	fact(status_kb("VmRSS:") < 256 * 1024, "resident memory stays below 256 MB");
	return trap_done();
}

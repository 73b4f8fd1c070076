/* fact: code written through a second, writable mapping of a memfd runs as written (V8, JVM) */
#include "trap.h"

int main(void)
{
	int file = memfd_create("jit", 0);
	if (ftruncate(file, 65536))
		return 2;
	char *writable = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	char *executable = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
	long wrong = 0;
	for (int i = 0; i < 5000; i++) {
		write_return(writable + i % 16 * 4096 / 4, i);
		wrong += call_code(executable + i % 16 * 4096 / 4) != i;
	}
	fact_equal(wrong, 0, "5000 functions written through the other mapping, over code that ran");
	/* and by system calls into the file */
	char text[16];
	wrong = 0;
	for (int i = 0; i < 500; i++) {
		write_return(text, -i);
		if (pwrite(file, text, 16, 4096) != 16)
			return 3;
		wrong += call_code(executable + 4096) != -i;
	}
	fact_equal(wrong, 0, "500 functions written by pwrite into the mapped file");
	return trap_done();
}

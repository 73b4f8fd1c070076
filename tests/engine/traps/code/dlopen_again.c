/* fact: libraries loaded and unloaded again and again at the same addresses run the code loaded last
 * libs: -ldl */
#include "trap.h"
#include <dlfcn.h>

/* Stands for two libraries: a file that is mapped with private, executable pages at one address. */
int main(void)
{
	char name[2][32], page[4096];
	for (int i = 0; i < 2; i++) {
		strcpy(name[i], "/tmp/tare-trap-XXXXXX");
		int file = mkstemp(name[i]);
		memset(page, 0xcc, sizeof page);
		write_return(page, 11 + i);
		if (write(file, page, 4096) != 4096)
			return 2;
		close(file);
	}
	char *at = map_anywhere(4096, PROT_NONE);
	long wrong = 0;
	for (int i = 0; i < 500; i++) {
		int file = open(name[i % 2], O_RDONLY);
		char *code = mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
		close(file);
		wrong += call_code(code) != 11 + i % 2;
		munmap(at, 4096);
	}
	unlink(name[0]), unlink(name[1]);
	fact_equal(wrong, 0, "two files' code by turns at one address");
	wrong = 0;
	for (int i = 0; i < 100; i++) {
		void *library = dlopen(i % 2 ? "libm.so.6" : "libresolv.so.2", RTLD_NOW);
		void *symbol = library ? dlsym(library, i % 2 ? "cos" : "ns_get16") : NULL;
		if (!symbol)
			return 3;
		wrong += i % 2 ? ((double (*)(double))symbol)(0.0) != 1.0
			       : ((int (*)(const void *))symbol)("\1\2") != 258;
		dlclose(library);
	}
	fact_equal(wrong, 0, "dlopen, call, dlclose a hundred times");
	return trap_done();
}

/* Enters and leaves an empty region N times by the assembly stubs (Safford 1997, appendix D: Table D.2).   region-overhead N */
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0; n > 0; n--)
		/* below the red zone */
		__asm__ volatile("lea -128(%%rsp), %%rsp\n call tare_asm_begin_0\n call tare_asm_end_0\n lea 128(%%rsp), %%rsp"
				 :
				 :
				 : "memory");
	return 0;
}

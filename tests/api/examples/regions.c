/* Regions by name:  TARE_EVENTS=page-faults:u ./regions */
#include <stddef.h>
#include <sys/mman.h>
#include <tare.h>

static void touch(size_t pages)
{
	volatile char *memory =
	    (volatile char *)mmap(NULL, pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;
	madvise((void *)memory, pages << 12, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		memory[i << 12] = 1;
	munmap((void *)memory, pages << 12);
}

int main(void)
{
	int pass;
	TARE_REGION_BEGIN("outer");
	touch(100);
	for (pass = 0; pass < 2; pass++) {
		TARE_REGION_BEGIN("inner");
		touch(100);
		TARE_REGION_END("inner");
	}
	TARE_REGION_END("outer");
	TARE_REGION_BEGIN("caf\xe9"); /* never left: the report says so */
	return 0;
}

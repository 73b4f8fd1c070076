/* fact: rdfsbase, wrfsbase, rdgsbase and wrgsbase read and write the program's bases
 * build: -mfsgsbase
 * needs: fsgsbase */
#include "trap.h"
#include <asm/prctl.h>
#include <immintrin.h>
#include <sys/auxv.h>

static long block[16];
int main(void)
{
	if (!(getauxval(AT_HWCAP2) & 2))
		skip_trap("the kernel does not allow fsgsbase");
	unsigned long fs, gs, old = _readfsbase_u64();
	long value;
	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
	fact(fs == old, "rdfsbase is what arch_prctl says");
	fact(_readgsbase_u64() == 0, "rdgsbase is 0 at the start");
	block[2] = 1234;
	long wrong = 0;
	for (int i = 0; i < 1000; i++) {
		_writegsbase_u64((unsigned long)(block + i % 2));
		wrong += _readgsbase_u64() != (unsigned long)(block + i % 2);
		asm volatile("mov %%gs:16(,%1,8), %0" : "=r"(value) : "r"(-(long)(i % 2)));
		wrong += value != 1234;
		syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
		wrong += gs != (unsigned long)(block + i % 2);
		wrong += _readgsbase_u32() != (unsigned)(unsigned long)(block + i % 2);
	}
	fact_equal(wrong, 0, "a thousand changes of gs");
	block[0] = 99;
	asm volatile("wrfsbase %1; mov %%fs:0, %0; wrfsbase %2" : "=&r"(value) : "r"(block), "r"(old));
	fact_equal(value, 99, "fs moved and moved back");
	asm volatile("xor %%eax, %%eax; wrgsbase %%rax" ::: "rax");
	fact(_readgsbase_u64() == 0, "gs back at 0");
	return trap_done();
}

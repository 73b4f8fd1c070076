/* fact: rdtsc, rdtscp, rdpid, rdrand, cpuid, xgetbv and serialising instructions give what the CPU gives
 * build: -mrdrnd
 * needs: rdtscp rdpid rdrand xsave */
#include "trap.h"
#include <cpuid.h>
#include <sched.h>
#include <x86intrin.h>

int main(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		skip_trap("cannot pin to processor 0");
	unsigned aux = 99;
	unsigned long pid = 99;
	uint64_t before = __rdtsc(), between = __rdtscp(&aux), after = __rdtsc();
	fact(before < between && between < after, "the time-stamp counter rises");
	fact((aux & 0xfff) == 0, "rdtscp gives the processor");
	asm volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(pid)); /* rdpid %rax */
	fact((pid & 0xfff) == 0, "rdpid gives the processor");
	unsigned a, b, c, d, control, high;
	char name[13] = { 0 };
	__cpuid(0, a, b, c, d);
	memcpy(name, &b, 4), memcpy(name + 4, &d, 4), memcpy(name + 8, &c, 4);
	fact(strlen(name) == 12 && a >= 7, "cpuid names the maker");
	dprintf(1, "maker %s\n", name);
	__cpuid(1, a, b, c, d);
	dprintf(1, "family %x features %x %x\n", a, c, d);
	__cpuid_count(7, 0, a, b, c, d);
	dprintf(1, "leaf 7 %x %x %x\n", b, c, d);
	asm volatile("xgetbv" : "=a"(control), "=d"(high) : "c"(0));
	dprintf(1, "xcr0 %x\n", control);
	__cpuid_count(13, 0, a, b, c, d);
	dprintf(1, "xsave area %u\n", b);
	unsigned long long x = 0;
	int good = 0;
	for (int i = 0; i < 20; i++)
		good += __builtin_ia32_rdrand64_step(&x);
	fact(good > 0, "rdrand gives numbers");
	asm volatile(
	    "lfence; mfence; sfence; pause; prefetcht0 (%0); prefetchnta (%0); prefetchw (%0); clflush (%0)" ::"r"(
		name)
	    : "memory");
	asm volatile("xor %%eax, %%eax; cpuid" ::: "rax", "rbx", "rcx", "rdx");
	fact(true, "fences, prefetches, clflush and cpuid");
	return trap_done();
}

/* fact: the vdso is found by auxv, can be parsed, read and called, and is mapped as natively */
#include "trap.h"
#include <elf.h>
#include <sys/auxv.h>
#include <sys/time.h>

static void *symbol(char *base, const char *name)
{
	Elf64_Ehdr *header = (void *)base;
	Elf64_Phdr *program = (void *)(base + header->e_phoff);
	long load = 0, found = 0;
	Elf64_Dyn *dynamic = NULL;
	for (int i = 0; i < header->e_phnum; i++)
		if (program[i].p_type == PT_LOAD && !found)
			load = (long)base + (long)program[i].p_offset - (long)program[i].p_vaddr, found = 1;
		else if (program[i].p_type == PT_DYNAMIC)
			dynamic = (void *)(base + program[i].p_offset);
	char *strings = NULL;
	Elf64_Sym *symbols = NULL;
	for (; dynamic->d_tag; dynamic++)
		if (dynamic->d_tag == DT_STRTAB)
			strings = (char *)(load + (long)dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_SYMTAB)
			symbols = (void *)(load + (long)dynamic->d_un.d_ptr);
	for (int i = 1; i < 40 && symbols[i].st_name < 2000; i++)
		if (!strcmp(strings + symbols[i].st_name, name))
			return (void *)(load + (long)symbols[i].st_value);
	return NULL;
}

int main(void)
{
	char *base = (char *)getauxval(AT_SYSINFO_EHDR);
	fact(base && !memcmp(base, ELFMAG, SELFMAG), "AT_SYSINFO_EHDR is an ELF header");
	int (*gettime)(clockid_t, struct timespec *) = symbol(base, "__vdso_clock_gettime");
	int (*getcpu)(unsigned *, unsigned *, void *) = symbol(base, "__vdso_getcpu");
	fact(gettime && getcpu, "its symbols are there");
	long wrong = 0;
	struct timespec one, two, three;
	for (int i = 0; i < 20000; i++) {
		unsigned cpu = 9999;
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &one);
		wrong += gettime(CLOCK_MONOTONIC, &two) != 0;
		clock_gettime(CLOCK_MONOTONIC, &three);
		long long a = one.tv_sec * 1000000000LL + one.tv_nsec, b = two.tv_sec * 1000000000LL + two.tv_nsec,
			  c = three.tv_sec * 1000000000LL + three.tv_nsec;
		wrong += a > b || b > c;
		wrong += getcpu(&cpu, NULL, NULL) != 0 || cpu > 4096;
	}
	fact_equal(wrong, 0, "20000 times are in order between the system call's and libc's");
	return trap_done();
}
